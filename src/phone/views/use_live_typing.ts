/** Takes what a keyboard or an input method leaves in a field, and types it into the terminal, each character once. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { goesInAtOnce, inputOfKey, inputsOfChange } from "../terminal_input.ts";
import { isBlocked } from "../terminal_words.ts";
import type { Terminal } from "./use_terminal.ts";

/** Always in the field: some keyboards tell of a backspace only when there is something to delete. */
const FILLING = " ";

type Field = HTMLTextAreaElement;

export interface LiveTyping {
  field: RefObject<Field | null>;
  isComposing: boolean;
  /** To be bound to the field. */
  events: {
    onInput(event: Event): void;
    onCompositionStart(): void;
    onCompositionEnd(): void;
    onKeyDown(event: KeyboardEvent): void;
  };
}

/** `onLeave`: Tab is the terminal's, this is the keyboard's way out. */
export function useLiveTyping(terminal: Terminal, onLeave: () => void): LiveTyping {
  const field = useRef<Field>(null);
  const [isComposing, setComposing] = useState(false);
  const begun = useRef({ typed: "", lastKey: "" });
  useEffect(() => {
    fill(field.current);
    field.current?.focus();
  }, []);
  const whole = (): void => {
    take(field.current, { before: begun.current.typed, terminal });
    begun.current.typed = "";
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    begun.current.lastKey = event.key;
    if (event.key === "Escape" && event.shiftKey) return onLeave();
    const input = isBlocked(terminal.told) ? undefined : inputOfKey(event);
    if (input === undefined) return;
    event.preventDefault();
    terminal.type([input]);
  };
  const onInput = (event: Event): void => {
    if ((event as InputEvent).isComposing) typeBegun(field.current, { begun: begun.current, terminal });
    else whole();
  };
  const onCompositionEnd = (): void => {
    setComposing(false);
    whole();
  };
  const onCompositionStart = (): void => setComposing(true);
  return { field, isComposing, events: { onInput, onCompositionStart, onCompositionEnd, onKeyDown } };
}

/** Of a word that is not whole yet. */
function typeBegun(
  field: Field | null,
  { begun, terminal }: { begun: { typed: string; lastKey: string }; terminal: Terminal },
): void {
  if (field === null) return;
  const text = textOf(field);
  if (!goesInAtOnce(text, begun.lastKey)) return;
  terminal.type(inputsOfChange(begun.typed, text));
  begun.typed = text;
}

/** What stands there is to be typed, `before` in its place already; the filling gone is a backspace. */
function take(field: Field | null, { before, terminal }: { before: string; terminal: Terminal }): void {
  if (field === null) return;
  const inputs = field.value === "" && before === ""
    ? [{ type: "key" as const, key: "BSpace" }]
    : inputsOfChange(before, textOf(field));
  fill(field);
  terminal.type(inputs);
}

function textOf(field: Field): string {
  return field.value.replace(FILLING, "");
}

function fill(field: Field | null): void {
  if (field === null) return;
  field.value = FILLING;
  field.setSelectionRange(FILLING.length, FILLING.length);
}
