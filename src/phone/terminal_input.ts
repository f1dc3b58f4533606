/** Turns key events, composed text and pinch gestures into terminal input and font sizes. */
import type { KeyInput } from "../protocol/key_input.ts";
import { KEY_TEXT_MAX_CHARS } from "../protocol/limits.ts";

/** The relevant part of a KeyboardEvent. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  /** An input method is handling the key. */
  isComposing: boolean;
  keyCode?: number;
}

/**
 * The code of a key that an input method took (UI Events, section 9.3). Safari ends a composition before it reports the
 * Enter that confirmed it, with `isComposing` already false.
 */
const TAKEN_KEY_CODE = 229;

/** True for a key that belongs to an input method. */
export function isComposed({ isComposing, keyCode }: Pick<KeyPress, "isComposing" | "keyCode">): boolean {
  return isComposing || keyCode === TAKEN_KEY_CODE;
}

/** Characters that an input method does not normally replace with others. */
const SETTLED = /^[!-~]*$/;

const KEYS: Readonly<Record<string, string>> = {
  Escape: "Escape",
  Enter: "Enter",
  Backspace: "BSpace",
  Delete: "DC",
  ArrowUp: "Up",
  ArrowDown: "Down",
  ArrowLeft: "Left",
  ArrowRight: "Right",
  Home: "Home",
  End: "End",
  PageUp: "PPage",
  PageDown: "NPage",
};

/** Undefined for keys that produce text, which arrives as the field's input, and for browser shortcuts. */
export function inputOfKey(press: KeyPress): KeyInput | undefined {
  const { key, ctrlKey, altKey, metaKey, shiftKey } = press;
  if (isComposed(press) || metaKey || key === "Process" || key === "Unidentified") return undefined;
  if (key === "Tab") return { type: "key", key: shiftKey ? "BTab" : "Tab" };
  if (/^F([1-9]|1[0-2])$/.test(key)) return { type: "key", key };
  const letter = /^[a-z]$/i.test(key) ? key.toLowerCase() : undefined;
  if (ctrlKey && !altKey && letter) return { type: "key", key: `C-${letter}` };
  if (altKey && !ctrlKey && (letter || key === "Enter" || key === "Backspace")) {
    return { type: "key", key: `M-${letter ?? KEYS[key]}` };
  }
  const named = KEYS[key];
  return named === undefined || ctrlKey || altKey ? undefined : { type: "key", key: named };
}

/** Keys that act in a terminal with Ctrl, besides the letters. */
const WITH_CTRL = "[]\\_^@ ";

/** True for a key with Ctrl or Alt that means something to terminals, but cannot be sent. */
export function isUnsendable(press: KeyPress): boolean {
  const { key, ctrlKey, altKey, metaKey } = press;
  if (isComposed(press) || metaKey || ctrlKey === altKey || inputOfKey(press) !== undefined) return false;
  // Alt with another character may produce text, as on a Mac.
  return key in KEYS || (ctrlKey && WITH_CTRL.includes(key));
}

/** The field's text as input: a line end is Enter, and long or multi-line text is a paste. */
export function inputsOfText(text: string): KeyInput[] {
  const clean = text.replace(/\r\n?/g, "\n").replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g,
    "",
  );
  if (clean === "") return [];
  if (clean === "\n") return [{ type: "key", key: "Enter" }];
  if (/[\n\t]/.test(clean) || clean.length > KEY_TEXT_MAX_CHARS) return [{ type: "paste", text: clean }];
  return [{ type: "text", text: clean }];
}

/** The input that turns typed text from `before` into `after`: deletes the end that differs and types the new one. */
export function inputsOfChange(before: string, after: string): KeyInput[] {
  const [old, fresh] = [[...before], [...after]];
  let same = 0;
  while (same < old.length && old[same] === fresh[same]) same++;
  const deletions = old.slice(same).map(() => ({ type: "key", key: "BSpace" }) as const);
  return [...deletions, ...inputsOfText(fresh.slice(same).join(""))];
}

/**
 * Phone keyboards compose whole words, so letters would only be sent after the next blank. True if they can be sent at
 * once: such keyboards report keys as "Unidentified". Any other composition is sent when it is complete.
 */
export function canSendWhileComposing(text: string, lastKey: string): boolean {
  return lastKey === "Unidentified" && SETTLED.test(text);
}

interface PinchTarget {
  readonly fontPixels: number;
  zoom(pixels: number): void;
}

/** Two fingers change the font size; one finger is left to the browser, which scrolls. Stops when the signal fires. */
export function followPinch(
  container: HTMLElement,
  { target, signal }: { target: PinchTarget; signal: AbortSignal },
): void {
  let begun: { distance: number; fontPixels: number } | undefined;
  const start = (event: TouchEvent): void => {
    const distance = distanceOf(event.touches);
    begun = distance === undefined ? undefined : { distance, fontPixels: target.fontPixels };
  };
  const move = (event: TouchEvent): void => {
    const distance = distanceOf(event.touches);
    if (begun === undefined || distance === undefined) return;
    event.preventDefault();
    target.zoom(zoomed(begun, distance));
  };
  container.addEventListener("touchstart", start, { signal, passive: true });
  container.addEventListener("touchend", start, { signal, passive: true });
  container.addEventListener("touchmove", move, { signal, passive: false });
}

/** The new font size, rounded to half pixels: smaller steps would not be visible. */
export function zoomed(begun: { distance: number; fontPixels: number }, distance: number): number {
  return Math.round(begun.fontPixels * distance / begun.distance * 2) / 2;
}

function distanceOf(touches: TouchList): number | undefined {
  const [one, other] = [touches[0], touches[1]];
  if (one === undefined || other === undefined) return undefined;
  return Math.max(1, Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY));
}
