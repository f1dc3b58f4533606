/** The field for writing a message. Enter starts a new line; the button, Ctrl+Enter or Cmd+Enter sends. */
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import type { Later } from "../../protocol/later.ts";
import { BODY_MAX_BYTES } from "../../protocol/limits.ts";
import type { SessionEntry } from "../../protocol/session.ts";
import { type BodyCheck, checkBody } from "../check_input.ts";
import { withInserted } from "../snippets.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { STRINGS } from "../strings.ts";
import { InsertSheet, type InsertTexts } from "./insert_sheet.tsx";
import { LaterDialog } from "./later_dialog.tsx";
import { Icon } from "./shared.tsx";
import { FileButton, type FileUpload, UploadBar } from "./upload_bar.tsx";
import { SuggestionList, type Suggestions, useSuggestions } from "./suggestion_list.tsx";

const { composer: TEXT } = STRINGS;
const { insert: INSERT } = SESSION_TEXT;

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
  /** What can be put into the draft. */
  texts: InsertTexts;
  /** A file for the host. */
  upload: FileUpload;
  onDraft(text: string): void;
  onSend(text: string, later?: Later): void;
}

export function Composer(props: Props): JSX.Element {
  const { label, agent, draft, mode, blocked, limit, texts, upload, onDraft, onSend } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const [open, setOpen] = useState<Sheet>();
  const insert = useInsertion(field, { draft, onDraft });
  const suggestions = useSuggestions({
    draft,
    agent,
    onPick: (command) => {
      onDraft(command);
      field.current?.focus();
    },
  });
  const check = checkBody(draft);
  const canSend = check.sendable && !blocked;
  const send = (): void => {
    if (canSend) onSend(draft);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    send();
  };
  return (
    <>
      <form class="composer" onSubmit={submit}>
        <UploadBar upload={upload} />
        <AddButton onPress={() => setOpen("insert")} />
        <SuggestionList suggestions={suggestions} />
        <Field
          {...{ field, label, draft, mode, suggestions, onDraft }}
          faulty={check.fault !== undefined}
          onSend={send}
        />
        <SendButton isOff={!canSend} />
        <Note check={check} blocked={blocked} />
      </form>
      <Sheets
        {...{ draft, limit, texts, upload, open, canSend }}
        onOpen={setOpen}
        onInsert={insert}
        onLater={(later) => onSend(draft, later)}
      />
    </>
  );
}

function Note({ check, blocked }: { check: BodyCheck; blocked: boolean }): JSX.Element {
  const isFault = check.fault !== undefined || blocked;
  return (
    <p id="composer-note" class="composer-note" role="status" data-fault={isFault}>
      {blocked ? TEXT.badName : noteOf(check)}
    </p>
  );
}

function SendButton({ isOff }: { isOff: boolean }): JSX.Element {
  return (
    <button
      type="submit"
      class="send"
      aria-label={TEXT.send}
      disabled={isOff}
      onPointerDown={(event) => event.preventDefault()}
    >
      <Icon name="send" />
    </button>
  );
}

type Sheet = "insert" | "later" | undefined;

/** Opens what can be done with the message besides sending it now. */
function AddButton({ onPress }: { onPress(): void }): JSX.Element {
  return (
    <button
      type="button"
      class="add-button"
      aria-label={INSERT.open}
      aria-haspopup="dialog"
      onPointerDown={(event) => event.preventDefault()}
      onClick={onPress}
    >
      <Icon name="plus" />
    </button>
  );
}

interface SheetsProps extends Pick<Props, "draft" | "limit" | "texts" | "upload"> {
  open: Sheet;
  canSend: boolean;
  onOpen(sheet: Sheet): void;
  onInsert(text: string): void;
  onLater(later: Later): void;
}

/** Outside the form, which Enter in one of their fields would submit. */
function Sheets(props: SheetsProps): JSX.Element | null {
  const { draft, limit, texts, upload, open, canSend, onOpen, onInsert, onLater } = props;
  const close = (): void => onOpen(undefined);
  if (open === "later") return <LaterDialog limit={limit} onChoose={onLater} onClose={close} />;
  if (open === undefined) return null;
  return (
    <InsertSheet {...{ draft, texts, onInsert }} onClose={close}>
      <FileButton onFile={upload.start} onDone={close} />
      {canSend && (
        <button type="button" class="secondary" onClick={() => onOpen("later")}>{TEXT.later}</button>
      )}
    </InsertSheet>
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

/** Puts a text into the draft where the cursor is, which stands behind it then. */
function useInsertion(
  field: RefObject<HTMLTextAreaElement | null>,
  { draft, onDraft }: Pick<Props, "draft" | "onDraft">,
): (text: string) => void {
  const [cursor, setCursor] = useState<number>();
  useLayoutEffect(() => {
    if (cursor === undefined) return;
    field.current?.focus();
    field.current?.setSelectionRange(cursor, cursor);
    setCursor(undefined);
  }, [cursor]);
  return (text) => {
    const { selectionStart: start = draft.length, selectionEnd: end = start } = field.current ?? {};
    const inserted = withInserted(draft, { text, start, end });
    onDraft(inserted.draft);
    setCursor(inserted.cursor);
  };
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
