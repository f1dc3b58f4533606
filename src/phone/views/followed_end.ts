/** Keeps a scrolling element at its end while content is added, until the user scrolls up. */
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";

interface FollowedEnd {
  isAt(): boolean;
  /** Scrolls to the end if the user was left there and has not scrolled up since. */
  follow(): void;
  /** To be called after each scroll event. Returns whether the end is in view. */
  scrolled(): boolean;
}

function scrollEnd({ scrollHeight, clientHeight }: Element): number {
  return scrollHeight - clientHeight;
}

/** Keeps `place` scrolled to its end unless the user scrolls up. Within `near` pixels counts as the end. */
export function useFollowedEnd(
  place: RefObject<HTMLElement | null>,
  { near, endOf = scrollEnd }: { near: number; endOf?(place: HTMLElement): number },
): FollowedEnd {
  const isAt = useRef(true);
  /** `scrollTop` when the element was last at its end. A scroll event arrives a frame late; comparing with this does not. */
  const leftAt = useRef(0);
  const scrolled = (): boolean => {
    const element = place.current;
    if (element === null) return isAt.current;
    isAt.current = Math.abs(endOf(element) - element.scrollTop) < near;
    if (isAt.current) leftAt.current = element.scrollTop;
    return isAt.current;
  };
  const follow = (): void => {
    const element = place.current;
    if (element === null || !isAt.current) return;
    if (element.scrollTop <= leftAt.current - near && !scrolled()) return;
    element.scrollTo(0, endOf(element));
    leftAt.current = element.scrollTop;
  };
  return { isAt: () => isAt.current, follow, scrolled };
}
