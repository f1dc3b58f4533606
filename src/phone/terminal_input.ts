/** What a keyboard or an input method gave, as the mirror's inputs. */
import { KEY_TEXT_MAX_CHARS } from "../protocol/limits.ts";
import type { KeyInput } from "../protocol/key_input.ts";

/** As much of a keyboard's event as matters. */
export interface Pressed {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  /** An input method is at work: the key is its own. */
  isComposing: boolean;
}

/** Letters that no input method makes others of, unless it is one for these very letters. */
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

/** Undefined for a key that gives text, which the field's own input tells, and for those of the browser. */
export function inputOfKey(
  { key, ctrlKey, altKey, metaKey, shiftKey, isComposing }: Pressed,
): KeyInput | undefined {
  if (isComposing || metaKey || key === "Process" || key === "Unidentified") return undefined;
  if (key === "Tab") return { type: "key", key: shiftKey ? "BTab" : "Tab" };
  if (/^F([1-9]|1[0-2])$/.test(key)) return { type: "key", key };
  const letter = /^[a-z]$/i.test(key) ? key.toLowerCase() : undefined;
  if (ctrlKey && !altKey && letter) return { type: "key", key: `C-${letter}` };
  if (altKey && !ctrlKey && (letter || key === "Enter")) {
    return { type: "key", key: `M-${letter ?? "Enter"}` };
  }
  const named = KEYS[key];
  return named === undefined || ctrlKey || altKey ? undefined : { type: "key", key: named };
}

/** Text as it stands in the field: line ends are Enter, what is long or has several lines is a paste. */
export function inputsOfText(text: string): KeyInput[] {
  const clean = text.replace(/\r\n?/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
  if (clean === "") return [];
  if (clean === "\n") return [{ type: "key", key: "Enter" }];
  if (/[\n\t]/.test(clean) || clean.length > KEY_TEXT_MAX_CHARS) return [{ type: "paste", text: clean }];
  return [{ type: "text", text: clean }];
}

/** What makes `after` of text that was typed as `before`: its end is deleted and typed anew. */
export function inputsOfChange(before: string, after: string): KeyInput[] {
  const [old, fresh] = [[...before], [...after]];
  let same = 0;
  while (same < old.length && old[same] === fresh[same]) same++;
  const deletions = old.slice(same).map(() => ({ type: "key", key: "BSpace" }) as const);
  return [...deletions, ...inputsOfText(fresh.slice(same).join(""))];
}

/**
 * A phone's keyboard composes each word, so that its letters would go in with the next blank only: true when they go in
 * at once. It gives no names to its keys; elsewhere what is composed waits until it is whole.
 */
export function goesInAtOnce(text: string, lastKey: string): boolean {
  return lastKey === "Unidentified" && SETTLED.test(text);
}
