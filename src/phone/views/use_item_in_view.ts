/** Scrolls to what a tapped notification leads to. */
import { useEffect } from "preact/hooks";
import type { PhoneState } from "../state.ts";

/** Once it is there, and again when another one is opened. */
export function useItemInView({ route, inbox }: PhoneState): void {
  const item = "item" in route ? route.item : undefined;
  const isLoaded = item !== undefined && inbox.has(item);
  useEffect(() => {
    if (isLoaded) document.querySelector(`[data-id="${item}"]`)?.scrollIntoView({ block: "nearest" });
  }, [item, isLoaded]);
}
