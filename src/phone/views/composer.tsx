/** The field in which a message is written. Enter is a new line; the button, or Ctrl or Cmd with Enter, sends. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import { BODY_MAX_BYTES } from "../../protocol/limits.ts";
import { type BodyCheck, checkBody } from "../body_check.ts";
import { STRINGS } from "../strings.ts";
import { Icon } from "./icons.tsx";

const { composer: WORDS } = STRINGS;

interface Props {
  /** How the session is called. */
  label: string;
  draft: string;
  /** How messages go out. */
  mode: Sealing;
  /** The session's name cannot be addressed at all. */
  blocked: boolean;
  onDraft(text: string): void;
  onSend(text: string): void;
}

export function Composer({ label, draft, mode, blocked, onDraft, onSend }: Props): JSX.Element {
  const check = checkBody(draft);
  const note = blocked ? WORDS.badName : noteOf(check);
  const send = (): void => {
    if (check.sendable && !blocked) onSend(draft);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    send();
  };
  return (
    <form class="composer" onSubmit={submit}>
      <Field {...{ label, draft, mode, onDraft }} faulty={check.fault !== undefined} onSend={send} />
      <button
        type="submit"
        class="send"
        aria-label={WORDS.send}
        disabled={!check.sendable || blocked}
        onPointerDown={(event) => event.preventDefault()}
      >
        <Icon name="send" />
      </button>
      <p
        id="composer-note"
        class="composer-note"
        role="status"
        data-fault={check.fault !== undefined || blocked}
      >
        {note}
      </p>
    </form>
  );
}

interface FieldProps extends Pick<Props, "label" | "draft" | "mode"> {
  faulty: boolean;
  onDraft(text: string): void;
  onSend(): void;
}

function Field({ label, draft, mode, faulty, onDraft, onSend }: FieldProps): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => grow(field.current), [draft]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.isComposing || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSend();
  };
  return (
    <textarea
      ref={field}
      rows={1}
      value={draft}
      placeholder={WORDS.placeholders[mode]}
      aria-label={WORDS.label(label)}
      aria-describedby="composer-note"
      aria-invalid={faulty}
      title={WORDS.hint}
      enterkeyhint="enter"
      onInput={(event) => onDraft(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

/** As high as its text; the style sheet sets the most. */
function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}

function noteOf({ fault, showSize, bytes }: BodyCheck): string {
  const most = BODY_MAX_BYTES.toLocaleString();
  if (fault === "too_long") return WORDS.tooLong(most);
  if (fault === "controls") return WORDS.controls;
  return showSize ? WORDS.size(bytes.toLocaleString(), most) : "";
}
