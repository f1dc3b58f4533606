/** The field for writing a message. Enter starts a new line; the button, Ctrl+Enter or Cmd+Enter sends. */
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import type { Later } from "../../protocol/later.ts";
import { BODY_MAX_BYTES } from "../../protocol/limits.ts";
import type { SessionEntry } from "../../protocol/session.ts";
import { type BodyCheck, checkBody } from "../check_input.ts";
import { STRINGS } from "../strings.ts";
import { LaterDialog } from "./later_dialog.tsx";
import { Icon } from "./shared.tsx";
import { SuggestionList, type Suggestions, useSuggestions } from "./suggestion_list.tsx";

const { composer: TEXT } = STRINGS;

interface Props {
  /** The session's label. */
  label: string;
  /** The session's kind of agent. */
  agent: string;
  draft: string;
  /** How messages are encrypted. */
  mode: Sealing;
  /** The session's name is not a valid one. */
  blocked: boolean;
  /** Since when the agent has reached its usage limit, and until when, if that is known. */
  limit: SessionEntry["limit"];
  onDraft(text: string): void;
  onSend(text: string, later?: Later): void;
}

export function Composer({ label, agent, draft, mode, blocked, limit, onDraft, onSend }: Props): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  const suggestions = useSuggestions({
    draft,
    agent,
    onPick: (command) => {
      onDraft(command);
      field.current?.focus();
    },
  });
  const check = checkBody(draft);
  const note = blocked ? TEXT.badName : noteOf(check);
  const canSend = check.sendable && !blocked;
  const send = (): void => {
    if (canSend) onSend(draft);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    send();
  };
  return (
    <form class="composer" data-later={canSend} onSubmit={submit}>
      <SuggestionList suggestions={suggestions} />
      <Field
        {...{ field, label, draft, mode, suggestions, onDraft }}
        faulty={check.fault !== undefined}
        onSend={send}
      />
      {canSend && <LaterButton limit={limit} onChoose={(later) => onSend(draft, later)} />}
      <button
        type="submit"
        class="send"
        aria-label={TEXT.send}
        disabled={!canSend}
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

interface LaterButtonProps extends Pick<Props, "limit"> {
  onChoose(later: Later): void;
}

function LaterButton({ limit, onChoose }: LaterButtonProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="later-button"
        aria-label={TEXT.later}
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => setOpen(true)}
      >
        <Icon name="clock" />
      </button>
      {isOpen && <LaterDialog limit={limit} onChoose={onChoose} onClose={() => setOpen(false)} />}
    </>
  );
}

interface FieldProps extends Pick<Props, "label" | "draft" | "mode"> {
  field: RefObject<HTMLTextAreaElement | null>;
  suggestions: Suggestions;
  faulty: boolean;
  onDraft(text: string): void;
  onSend(): void;
}

function Field(
  { field, label, draft, mode, suggestions, faulty, onDraft, onSend }: FieldProps,
): JSX.Element {
  useLayoutEffect(() => grow(field.current), [draft]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const sends = event.key === "Enter" && !event.isComposing && (event.ctrlKey || event.metaKey);
    if (!sends) return void suggestions.onKey(event);
    event.preventDefault();
    onSend();
  };
  return (
    <textarea
      ref={field}
      rows={1}
      value={draft}
      placeholder={TEXT.placeholders[mode]}
      aria-label={TEXT.label(label)}
      aria-describedby="composer-note"
      aria-invalid={faulty}
      {...suggestions.attributes}
      title={TEXT.hint}
      enterkeyhint="enter"
      onInput={(event) => onDraft(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

/** Makes the field as high as its text, up to the maximum in the style sheet. */
function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}

function noteOf({ fault, showSize, bytes }: BodyCheck): string {
  const most = BODY_MAX_BYTES.toLocaleString();
  if (fault === "too_long") return TEXT.tooLong(most);
  if (fault === "controls") return TEXT.controls;
  return showSize ? TEXT.size(bytes.toLocaleString(), most) : "";
}
