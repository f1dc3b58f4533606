/** Around the buttons of a card: they do nothing while they move, so that a tap that is already under way hits no other request. */
import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { CARDS } from "../card_text.ts";

/** A button acts only when it has not moved for this long. */
const SETTLED_MS = 700;
const SAMPLE_MS = 100;

export interface Settled {
  /** For the element around the buttons. */
  place: RefObject<HTMLDivElement | null>;
  isSettled: boolean;
  /** The last tap came too early and did nothing. */
  wasEarly: boolean;
  /** Acts if the buttons have stood still, and otherwise says so. */
  act(action: () => void): void;
}

/** Appearing counts as moving, and so does whatever moves the buttons: another card, a message, scrolling. */
function useSettled(): Settled {
  const place = useRef<HTMLDivElement>(null);
  const last = useRef({ where: "", since: 0 });
  const [isSettled, setSettled] = useState(false);
  const [wasEarly, setEarly] = useState(false);
  const check = (): boolean => {
    const where = JSON.stringify(place.current?.getBoundingClientRect());
    const now = performance.now();
    if (where !== last.current.where) last.current = { where, since: now };
    return now - last.current.since >= SETTLED_MS;
  };
  useEffect(() => {
    check();
    const timer = setInterval(() => setSettled(check()), SAMPLE_MS);
    return () => clearInterval(timer);
  }, []);
  // Also what has moved since the last sample.
  const act = (action: () => void): void => {
    const isStill = check();
    setEarly(!isStill);
    if (isStill) action();
  };
  return { place, isSettled, wasEarly, act };
}

interface Props {
  children(settled: Pick<Settled, "isSettled" | "act">): JSX.Element;
}

export function CardButtons({ children }: Props): JSX.Element {
  const { place, isSettled, wasEarly, act } = useSettled();
  return (
    <>
      <div class="card-buttons" ref={place} data-settled={isSettled}>{children({ isSettled, act })}</div>
      <p class="field-fault" role="status">{wasEarly && CARDS.moved}</p>
    </>
  );
}
