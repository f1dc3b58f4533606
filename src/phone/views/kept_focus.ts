/** Keeps the focus nearby when the focused element disappears, as a message's button does once it was pressed. */
import type { TargetedEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Focused {
  element: Element;
  /** The elements that may get the focus instead, nearest first. */
  around: (HTMLElement | null)[];
}

/** Returns properties for the element within which the focus is kept. */
export function useKeptFocus(): { onFocusIn(event: TargetedEvent<HTMLElement>): void } {
  const last = useRef<Focused>(undefined);
  useLayoutEffect(() => {
    const { element, around = [] } = last.current ?? {};
    if (element?.isConnected !== false || document.activeElement !== document.body) return;
    last.current = undefined;
    const place = around.find((one) => one?.isConnected);
    if (!place) return;
    // Elements such as a list item or a heading can only be focused with a tabindex.
    if (!place.hasAttribute("tabindex")) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  });
  return {
    onFocusIn: ({ target, currentTarget }) => {
      if (!(target instanceof Element)) return;
      const around = ["li", "main, section"].map((name) => target.closest<HTMLElement>(name));
      last.current = { element: target, around: [...around, currentTarget.querySelector("h1")] };
    },
  };
}

/** For a button's `pointerdown`: keeps the focus in the field, so that the phone's keyboard stays open. */
export function keepFocus(event: Event): void {
  event.preventDefault();
}
