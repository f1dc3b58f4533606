/** The field of live typing: a real one, so that input methods and dictation work; what they give goes into the terminal at once. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { STRINGS } from "../strings.ts";
import { goesInAtOnce, inputOfKey, inputsOfChange } from "../terminal_input.ts";
import { isBlocked } from "../terminal_words.ts";
import type { Terminal } from "./use_terminal.ts";

const { terminal: WORDS } = STRINGS;
/** Always in the field: some keyboards tell of a backspace only when there is something to delete. */
const FILLING = " ";

interface Props {
  /** How the session is called. */
  label: string;
  terminal: Terminal;
  /** Tab is the terminal's: this is the keyboard's way out. */
  onLeave(): void;
}

export function LiveField({ label, terminal, onLeave }: Props): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  const [isComposing, setComposing] = useState(false);
  const composed = useRef({ typed: "", lastKey: "" });
  useEffect(() => {
    fill(field.current);
    field.current?.focus();
  }, []);
  const isOff = isBlocked(terminal.told);
  const onInput = (event: InputEvent): void => {
    if (event.isComposing) composed.current.typed = typeBegun(field.current, composed.current, terminal);
    else take(field.current, { before: "", terminal });
  };
  const onComposed = (): void => {
    setComposing(false);
    take(field.current, { before: composed.current.typed, terminal });
    composed.current.typed = "";
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    composed.current.lastKey = event.key;
    if (event.key === "Escape" && event.shiftKey) return onLeave();
    const input = isOff ? undefined : inputOfKey(event);
    if (input === undefined) return;
    event.preventDefault();
    terminal.type([input]);
  };
  return (
    <div class="live-field">
      <textarea
        ref={field}
        rows={1}
        aria-label={WORDS.liveLabel(label)}
        aria-describedby="live-leave"
        autocomplete="off"
        autocapitalize="off"
        autocorrect="off"
        spellcheck={false}
        enterkeyhint="enter"
        readOnly={isOff}
        onInput={(event) => onInput(event as InputEvent)}
        onCompositionStart={() => setComposing(true)}
        onCompositionEnd={onComposed}
        onKeyDown={onKeyDown}
      />
      {isComposing || (
        <span class="live-hint" aria-hidden="true">{isOff ? WORDS.liveBlocked : WORDS.liveHint}</span>
      )}
      <span id="live-leave" class="visually-hidden">{WORDS.liveLeave}</span>
    </div>
  );
}

/** What stands in the field besides the filling. */
function textOf(field: HTMLTextAreaElement): string {
  return field.value.replace(FILLING, "");
}

/** Of a word that is not whole yet; gives what is typed of it now. */
function typeBegun(
  field: HTMLTextAreaElement | null,
  { typed, lastKey }: { typed: string; lastKey: string },
  terminal: Terminal,
): string {
  if (field === null) return typed;
  const text = textOf(field);
  if (!goesInAtOnce(text, lastKey)) return typed;
  terminal.type(inputsOfChange(typed, text));
  return text;
}

/** What stands there was typed, `before` in its place already; the filling gone is a backspace. */
function take(
  field: HTMLTextAreaElement | null,
  { before, terminal }: { before: string; terminal: Terminal },
): void {
  if (field === null) return;
  const inputs = field.value === "" && before === ""
    ? [{ type: "key" as const, key: "BSpace" }]
    : inputsOfChange(before, textOf(field));
  fill(field);
  terminal.type(inputs);
}

function fill(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.value = FILLING;
  field.setSelectionRange(FILLING.length, FILLING.length);
}
