/** The field of live typing: a real one, so that input methods and dictation work; what they give goes into the terminal at once. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { STRINGS } from "../strings.ts";
import { inputOfKey, inputsOfText } from "../terminal_input.ts";
import type { Terminal } from "./use_terminal.ts";

const { terminal: WORDS } = STRINGS;
/** Always in the field: some keyboards tell of a backspace only when there is something to delete. */
const FILLING = " ";

interface Props {
  /** How the session is called. */
  label: string;
  terminal: Terminal;
}

export function LiveField({ label, terminal }: Props): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    fill(field.current);
    field.current?.focus();
  }, []);
  const isHeld = terminal.told.keys?.state === "held";
  const onInput = (): void => take(field.current, terminal);
  const onKeyDown = (event: KeyboardEvent): void => {
    const input = inputOfKey(event);
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
        autocomplete="off"
        autocapitalize="off"
        autocorrect="off"
        spellcheck={false}
        enterkeyhint="enter"
        readOnly={isHeld}
        onInput={(event) => (event as InputEvent).isComposing || onInput()}
        onCompositionEnd={onInput}
        onKeyDown={onKeyDown}
      />
      <span class="live-hint" aria-hidden="true">{WORDS.liveHint}</span>
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
