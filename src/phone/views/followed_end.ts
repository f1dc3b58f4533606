/** Keeps a scrolling element at its end while content is added or its size changes, until the user scrolls up. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface FollowedEnd {
  isAt(): boolean;
  /** Scrolls to the end if the user was left there and has not scrolled up since. */
  follow(): void;
  /** Call this after each scroll event. Returns whether the user is at the end. */
  scrolled(): boolean;
}

function scrollEnd({ scrollHeight, clientHeight }: Element): number {
  return scrollHeight - clientHeight;
}

/** Calls `act` when the window's size has changed. Returns a function that ends this. */
export function onResize(act: () => void): () => void {
  addEventListener("resize", act);
  return () => removeEventListener("resize", act);
}

/** Keeps `place` scrolled to its end unless the user scrolls up. Within `near` pixels counts as the end. */
export function useFollowedEnd(
  place: RefObject<HTMLElement | null>,
  { near, endOf = scrollEnd }: { near: number; endOf?(place: HTMLElement): number },
): FollowedEnd {
  const isAt = useRef(true);
  /**
   * The end when it was last in view. A change of content or size moves the end before it is followed, without a
   * scroll.
   */
  const last = useRef({ end: 0, height: 0 });
  const note = (element: HTMLElement): void => {
    last.current = { end: endOf(element), height: element.clientHeight };
  };
  const hasLeft = ({ scrollTop, clientHeight }: HTMLElement): boolean =>
    clientHeight === last.current.height && Math.abs(last.current.end - scrollTop) >= near;
  const scrolled = (): boolean => {
    const element = place.current;
    if (element === null) return isAt.current;
    const isInView = Math.abs(endOf(element) - element.scrollTop) < near;
    if (isInView) note(element);
    return isAt.current = isInView || isAt.current && !hasLeft(element);
  };
  const toEnd = (): void => {
    const element = place.current;
    if (element === null || !isAt.current) return;
    element.scrollTo(0, endOf(element));
    note(element);
  };
  const follow = (): void => {
    if (isAt.current) scrolled();
    toEnd();
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(follow);
    if (place.current !== null) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  // A window that gets larger and smaller again between two frames moves the text but is no change to the observer.
  useLayoutEffect(() => onResize(toEnd), []);
  return { isAt: () => isAt.current, follow, scrolled };
}
