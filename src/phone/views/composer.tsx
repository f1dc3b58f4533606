/** The field for writing a message, and the choice of sending it later. Enter starts a new line; the button, Ctrl+Enter or Cmd+Enter sends. */
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Sealing } from "../../crypto/mode.ts";
import type { Later } from "../../protocol/push.ts";
import { BODY_MAX_BYTES } from "../../protocol/limits.ts";
import type { SessionEntry } from "../../protocol/session.ts";
import { type BodyCheck, checkBody } from "../check_input.ts";
import { formatNumber, formatTime } from "../format_time.ts";
import { LATER_MAX_MS } from "../own_messages.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { onResize } from "./followed_end.ts";
import { InsertSheet, type InsertTexts, withInserted } from "./insert_sheet.tsx";
import { Icon, useNow } from "./shared.tsx";
import { SuggestionList, type Suggestions, useSuggestions } from "./suggestion_list.tsx";
import { FileButton, type FileUpload, UploadBar } from "./upload_bar.tsx";

const { composer: TEXT, insert: INSERT, later: LATER } = SESSION_TEXT;
const HOUR_MS = 3_600_000;
const MORNING_HOUR = 8;
/** How often the suggested times are updated, which are shown to the minute. */
const TIMES_EVERY_MS = 5_000;

interface Props {
  /** The session's label. */
  label: string;
  /** The session's kind of agent. */
  agent: string;
  draft: string;
  /** How messages are encrypted. */
  mode: Sealing;
  /** The session's name is invalid. */
  blocked: boolean;
  /** Set while the agent has reached its usage limit, with the time when it resets, if known. */
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
  const { opener, open, setOpen } = useSheet();
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
        <AddButton button={opener} onPress={() => setOpen("insert")} />
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

/** The open sheet. "later" replaces "insert", so the browser cannot return the focus to the opener by itself. */
function useSheet(): {
  opener: RefObject<HTMLButtonElement | null>;
  open: Sheet;
  setOpen(open: Sheet): void;
} {
  const opener = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState<Sheet>();
  const before = useRef(open);
  useLayoutEffect(() => {
    if (before.current === "later" && open === undefined) opener.current?.focus();
    before.current = open;
  }, [open]);
  return { opener, open, setOpen };
}

/** Opens the sheet with further actions on the message. */
function AddButton(
  { button, onPress }: { button: RefObject<HTMLButtonElement | null>; onPress(): void },
): JSX.Element {
  return (
    <button
      ref={button}
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

/** Rendered outside the form, which Enter in one of their fields would submit. */
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
  useLayoutEffect(() => {
    const fit = (): void => grow(field.current);
    fit();
    return onResize(fit);
  }, [draft]);
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

/** Returns a function that inserts a text at the cursor of the draft and puts the cursor after it. */
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

/**
 * Makes the field as high as its text, up to the maximum in the style sheet. The form keeps its height while the text
 * is measured: otherwise what is shown above it would get higher for a moment, and be scrolled away from its end.
 */
function grow(field: HTMLTextAreaElement | null): void {
  const form = field?.form;
  if (!form) return;
  form.style.minHeight = `${form.offsetHeight}px`;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
  form.style.minHeight = "";
}

function noteOf({ fault, showSize, bytes }: BodyCheck): string {
  const most = formatNumber(BODY_MAX_BYTES);
  if (fault === "too_long") return TEXT.tooLong(most);
  if (fault === "controls") return TEXT.controls;
  return showSize ? TEXT.size(formatNumber(bytes), most) : "";
}

interface LaterDialogProps {
  limit: SessionEntry["limit"];
  /** Times are by this device's clock. */
  onChoose(later: Later): void;
  onClose(): void;
}

/** The dialog for choosing when a message is typed. */
function LaterDialog({ limit, onChoose, onClose }: LaterDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const now = useNow(TIMES_EVERY_MS);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const choose = (later: Later): void => {
    dialog.current?.close();
    onChoose(later);
  };
  return (
    <dialog class="sheet" ref={dialog} aria-labelledby="later-heading" onClose={onClose}>
      <h2 id="later-heading">{LATER.heading}</h2>
      <div class="choices">
        <Choice label={LATER.idle} onClick={() => choose({ kind: "idle" })} />
        {limit && <Choice label={resetLabel(limit, now)} onClick={() => choose({ kind: "reset" })} />}
        {suggestedTimes(now).map((at, place) => (
          <Choice
            key={place}
            label={LATER.at(formatTime(at, now))}
            onClick={() => choose({ kind: "at", at })}
          />
        ))}
      </div>
      <OtherTime now={now} onChoose={(at) => choose({ kind: "at", at })} />
      <button type="button" class="quiet" onClick={() => dialog.current?.close()}>{LATER.cancel}</button>
    </dialog>
  );
}

function resetLabel({ resetsAt }: NonNullable<SessionEntry["limit"]>, now: number): string {
  return resetsAt === undefined ? LATER.reset : LATER.resetAt(formatTime(resetsAt, now));
}

function Choice({ label, onClick }: { label: string; onClick(): void }): JSX.Element {
  return <button type="button" class="secondary" onClick={onClick}>{label}</button>;
}

function OtherTime({ now, onChoose }: { now: number; onChoose(at: number): void }): JSX.Element {
  const [value, setValue] = useState("");
  const at = new Date(value).getTime();
  const isPossible = now < at && at <= now + LATER_MAX_MS;
  return (
    <div class="other-time">
      <label>
        {LATER.other}
        <input
          type="datetime-local"
          class="text-field"
          min={fieldTime(now)}
          max={fieldTime(now + LATER_MAX_MS)}
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      <button type="button" class="primary" disabled={!isPossible} onClick={() => onChoose(at)}>
        {LATER.schedule}
      </button>
    </div>
  );
}

/** In an hour, and the next morning; in epoch milliseconds by this device's clock. */
export function suggestedTimes(now: number): number[] {
  const morning = new Date(now);
  morning.setHours(MORNING_HOUR, 0, 0, 0);
  if (morning.getTime() <= now + HOUR_MS) morning.setDate(morning.getDate() + 1);
  return [now + HOUR_MS, morning.getTime()];
}

/** The value of a field for date and time, in this device's time zone. */
export function fieldTime(epochMs: number): string {
  const local = new Date(epochMs - new Date(epochMs).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
