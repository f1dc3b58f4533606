/** Shared by the views of cards: texts, a request's text and whether it was read, and buttons that act only at rest. */
import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Asked, Decision } from "../../protocol/ask.ts";
import { STRINGS } from "../strings.ts";
import { CARD_STRINGS, type CardStrings } from "../strings_session.ts";

/** The texts of cards in the page's language. */
export const CARDS: CardStrings = STRINGS.cards ?? CARD_STRINGS;

/** Returns an answer as it is shown. A decision is stored as its name, with any reason after a colon. */
export function givenText(ask: Asked, body: string): string {
  const [name, ...reason] = ask.kind === "approval" ? body.split(": ") : [];
  const decision = Decision.safeParse(name).data;
  return decision === undefined ? body : [CARDS.decided[decision], ...reason].join(": ");
}

/** Scroll positions may be off by fractions of a pixel. */
const ROUNDING_PIXELS = 2;
/** An edge of the text counts as seen when nearly all of it was on the screen. */
const SEEN = 0.9;
/** How hosts write a hidden character. */
const NAMED = /^⟨U\+/;
/** Letters and digits that are written from right to left. */
const LEFTWARD = "[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]+";
const MARKED = new RegExp(`(⟨U\\+[0-9A-F]{4,6}⟩|${LEFTWARD}(?: +${LEFTWARD})*)`, "u");

export interface Reading {
  isRead: boolean;
  /** Some lines are longer than the screen is wide. */
  isWide: boolean;
  isWrapped: boolean;
  setWrapped(isWrapped: boolean): void;
  text: RefObject<HTMLPreElement | null>;
}

interface Edges {
  start: boolean;
  end: boolean;
  right: boolean;
}
const UNSEEN: Edges = { start: false, end: false, right: false };

/**
 * Tracks whether a text was read: its beginning, its end and, unless lines are wrapped, their right end were in view.
 */
export function useReading(): Reading {
  const text = useRef<HTMLPreElement>(null);
  const [isWrapped, setWrapped] = useState(false);
  const [isRead, setRead] = useState(false);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const element = text.current;
    if (element === null || isWrapped) return;
    const observer = new ResizeObserver(() =>
      setWide(element.scrollWidth > element.clientWidth + ROUNDING_PIXELS)
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isWrapped]);
  // Observes before the text is painted, so that nothing scrolls past unnoticed.
  useLayoutEffect(() => {
    const element = text.current;
    if (element === null || isRead) return;
    const seen = { ...UNSEEN };
    const see = (edges: Partial<Edges>): void => {
      Object.assign(seen, edges);
      if (seen.start && seen.end && seen.right) setRead(true);
    };
    return watchEdges(element, see);
  }, [isWrapped, isRead]);
  return { isRead, isWide, isWrapped, setWrapped, text };
}

/** Calls `see` when an edge of the text comes into view. Returns a function that ends this. */
export function watchEdges(element: HTMLElement, see: (edges: Partial<Edges>) => void): () => void {
  const [start, end] = element.querySelectorAll(".edge");
  const observer = new IntersectionObserver((entries) => {
    for (const { target, intersectionRatio } of entries) {
      if (intersectionRatio >= SEEN) see(target === start ? { start: true } : { end: true });
    }
  }, { threshold: SEEN });
  for (const edge of [start, end]) if (edge) observer.observe(edge);
  const lookRight = (): void => {
    const { clientWidth, scrollLeft, scrollWidth } = element;
    if (clientWidth > 0 && scrollLeft + clientWidth >= scrollWidth - ROUNDING_PIXELS) see({ right: true });
  };
  const sizes = new ResizeObserver(lookRight);
  sizes.observe(element);
  element.addEventListener("scroll", lookRight, { passive: true });
  return () => {
    observer.disconnect();
    sizes.disconnect();
    element.removeEventListener("scroll", lookRight);
  };
}

export function RequestText({ text, reading }: { text: string; reading: Reading }): JSX.Element {
  const { isWide, isWrapped, setWrapped } = reading;
  return (
    <div class="request">
      <pre
        ref={reading.text}
        class="dialog-text request-text"
        data-wrapped={isWrapped}
        tabIndex={0}
        role="region"
        aria-label={CARDS.request}
      ><i class="edge" />{marked(text)}<i class="edge" /></pre>
      {isWide && (
        <button
          type="button"
          class="quiet wrap"
          aria-pressed={isWrapped}
          onClick={() => setWrapped(!isWrapped)}
        >
          {CARDS.wrap}
        </button>
      )}
    </div>
  );
}

/**
 * Returns the text with the names of hidden characters emphasized and right-to-left words isolated, so that they do not
 * change the order of the text around them.
 */
export function marked(text: string): (string | JSX.Element)[] {
  return text.split(MARKED).map((part, place) => {
    if (place % 2 === 0) return part;
    return NAMED.test(part) ? <mark key={place}>{part}</mark> : <bdi key={place}>{part}</bdi>;
  });
}

/** A button acts only when it has not moved for this long. */
const SETTLED_MS = 700;
const SAMPLE_MS = 100;

export interface Settled {
  /** The ref for the element around the buttons. */
  place: RefObject<HTMLDivElement | null>;
  isSettled: boolean;
  /** The last tap came too early and did nothing. */
  wasEarly: boolean;
  /** Runs the action if the buttons have stood still, else sets `wasEarly`. */
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
  // Checks again: the buttons may have moved since the last sample.
  const act = (action: () => void): void => {
    const isStill = check();
    setEarly(!isStill);
    if (isStill) action();
  };
  return { place, isSettled, wasEarly, act };
}

interface CardButtonsProps {
  children(settled: Pick<Settled, "isSettled" | "act">): JSX.Element;
}

/** Wraps a card's buttons, which do nothing while they move: a tap under way must not hit another request. */
export function CardButtons({ children }: CardButtonsProps): JSX.Element {
  const { place, isSettled, wasEarly, act } = useSettled();
  return (
    <>
      <div class="card-buttons" ref={place} data-settled={isSettled}>{children({ isSettled, act })}</div>
      <p class="field-fault" role="status">{wasEarly && CARDS.moved}</p>
    </>
  );
}
