/** The field of live typing: a real one, so that input methods and dictation work; what they give goes into the terminal at once. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { STRINGS } from "../strings.ts";
import { inputOfKey, inputsOfText } from "../terminal_input.ts";
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
  useEffect(() => {
    fill(field.current);
    field.current?.focus();
  }, []);
  const isOff = isBlocked(terminal.told);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && event.shiftKey) return onLeave();
    const input = isOff ? undefined : inputOfKey(event);
    if (input === undefined) return;
    event.preventDefault();
    terminal.type([input]);
  };
  const onComposed = (): void => {
    setComposing(false);
    take(field.current, terminal);
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
        onInput={(event) => (event as InputEvent).isComposing || take(field.current, terminal)}
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

/** What stands in the field besides the filling was typed; the filling gone is a backspace. */
function take(field: HTMLTextAreaElement | null, terminal: Terminal): void {
  if (field === null) return;
  const { value } = field;
  const inputs = value === ""
    ? [{ type: "key" as const, key: "BSpace" }]
    : inputsOfText(value.replace(FILLING, ""));
  fill(field);
  terminal.type(inputs);
}

function fill(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.value = FILLING;
  field.setSelectionRange(FILLING.length, FILLING.length);
}
