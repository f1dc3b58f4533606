/** The field of live typing: a real one, so that input methods and dictation work; what they give goes into the terminal at once. */
import type { JSX } from "preact";
import { STRINGS } from "../strings.ts";
import { isBlocked } from "../terminal_words.ts";
import { useLiveTyping } from "./use_live_typing.ts";
import type { Terminal } from "./use_terminal.ts";

const { terminal: WORDS } = STRINGS;

interface Props {
  /** How the session is called. */
  label: string;
  terminal: Terminal;
  onLeave(): void;
}

export function LiveField({ label, terminal, onLeave }: Props): JSX.Element {
  const { field, isComposing, events } = useLiveTyping(terminal, onLeave);
  const isOff = isBlocked(terminal.told);
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
        {...events}
      />
      {isComposing || (
        <span class="live-hint" aria-hidden="true">{isOff ? WORDS.liveBlocked : WORDS.liveHint}</span>
      )}
      <span id="live-leave" class="visually-hidden">{WORDS.liveLeave}</span>
    </div>
  );
}
