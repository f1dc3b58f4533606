/** An open dialog: its text, since when it waits, and what may be done about it from here. */
import type { JSX } from "preact";
import type { DialogView } from "../attention.ts";
import { formatAge } from "../format_time.ts";
import type { Message } from "../message.ts";
import { failureDetail } from "../requests.ts";
import { formatRoute } from "../route.ts";
import type { PhoneState } from "../state.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { STRINGS } from "../strings.ts";
import { PlainSign, SessionLabel } from "./shared.tsx";

const { dialog: TEXT } = SESSION_TEXT;

export interface DialogActions {
  answerDialog(dialog: DialogView, action: "reject" | "interrupt"): void;
}

interface Props {
  state: PhoneState;
  dialog: DialogView;
  /** The relay's clock. */
  now: number;
  /** In the session the label is in the heading; beside its terminal the text is on the screen. */
  place: "inbox" | "messages" | "terminal";
  actions: DialogActions;
}

export function DialogCard({ state, dialog, now, place, actions }: Props): JSX.Element {
  const { session, since, can, push } = dialog;
  const href = formatRoute({ view: "session", deviceId: session.deviceId, session: session.entry.name });
  return (
    <li class="card dialog-card" data-place={place} data-id={dialog.id}>
      <div class="card-head">
        {place === "inbox"
          ? (
            <a class="card-session" href={href}>
              <SessionLabel session={session} />
            </a>
          )
          : <span class="label">{TEXT.open}</span>}
        <span class="chip" data-state="waiting">{TEXT.waiting(formatAge(now - since))}</span>
      </div>
      {push !== undefined && <PlainSign state={state} push={push} />}
      {place !== "terminal" && <DialogText push={push} />}
      <AnswerStatus message={dialog.answer} />
      {can.includes("reject") && <Buttons dialog={dialog} actions={actions} />}
      <p class="dialog-setting">{settingOf(can)}</p>
    </li>
  );
}

function DialogText({ push }: Pick<DialogView, "push">): JSX.Element {
  if (push === undefined) return <p class="question-text" role="status">{TEXT.loading}</p>;
  if (push.body === undefined) {
    const isSealed = push.sealedFor !== undefined;
    return <p class="question-text">{isSealed ? STRINGS.sealing.forOthers : TEXT.open}</p>;
  }
  return <pre class="dialog-text" tabIndex={0}>{push.body}</pre>;
}

function Buttons({ dialog, actions }: Pick<Props, "dialog" | "actions">): JSX.Element {
  const isSent = dialog.answer !== undefined && !isRefused(dialog.answer);
  return (
    <div class="dialog-actions">
      {(["reject", "interrupt"] as const).filter((action) => dialog.can.includes(action)).map((action) => (
        <button
          key={action}
          type="button"
          class="secondary"
          disabled={isSent}
          onClick={() => actions.answerDialog(dialog, action)}
        >
          {TEXT[action]}
        </button>
      ))}
    </div>
  );
}

function AnswerStatus({ message }: { message: Message | undefined }): JSX.Element | null {
  if (message === undefined) return null;
  return <p class="standing" role="status">{statusOf(message)}</p>;
}

function statusOf({ progress }: Message): string {
  if (progress.kind === "outbox") return TEXT.sending;
  if (progress.kind === "failed") return TEXT.failed(failureDetail(progress.failure));
  const { state, reason = "" } = progress.receipt;
  if (state === "submitted") return TEXT.done;
  if (!progress.receipt.final) return TEXT.sending;
  return TEXT.failed(
    (STRINGS.reasons as Partial<Record<string, string>>)[reason] ?? STRINGS.receipt.states[state],
  );
}

function isRefused({ progress }: Message): boolean {
  return progress.kind === "failed" ||
    (progress.kind === "taken" && progress.receipt.final && progress.receipt.state !== "submitted");
}

function settingOf(can: readonly string[]): string {
  if (can.includes("type")) return TEXT.setting.type;
  return can.includes("reject") ? TEXT.setting.reject : TEXT.setting.none;
}
