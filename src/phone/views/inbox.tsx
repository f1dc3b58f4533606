/** The inbox: open questions and dialogs first, then notifications and closed questions; and the cards of a dialog and of a notification. */
import type { JSX } from "preact";
import { ALL_SEEN, type DialogView, openDialogs, shownDialogs } from "../attention.ts";
import { formatAge, formatTime } from "../format_time.ts";
import { closedItems, type InboxItem, type NotificationItem, openQuestions } from "../inbox.ts";
import type { Message } from "../message.ts";
import { failureDetail } from "../requests.ts";
import { formatRoute } from "../route.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { type PhoneState, relayNow } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { type AskActions, AskCard } from "./ask_card.tsx";
import { Markdown } from "./markdown.tsx";
import {
  Icon,
  PageHead,
  PlainSign,
  SessionLabel,
  SourceHost,
  SourceSession,
  useNow,
  useRead,
} from "./shared.tsx";

const { inbox: TEXT, question: QUESTION } = STRINGS;
const { dialog: DIALOG } = SESSION_TEXT;
/** The time left to answer is shown in minutes. */
const NOW_EVERY_MS = 5_000;

export interface InboxActions extends AskActions, DialogActions {
  read(key: string): void;
  readOlder(): void;
}

interface Props {
  state: PhoneState;
  /** The link's notice. */
  notice: JSX.Element;
  actions: InboxActions;
}

export function InboxView({ state, notice, actions }: Props): JSX.Element {
  const now = relayNow(state, useNow(NOW_EVERY_MS));
  const open = openQuestions(state.inbox, now);
  useRead(ALL_SEEN, { inbox: state.inbox, read: actions.read });
  const dialogs = shownDialogs(state, now);
  const shown = new Set(openDialogs(state).map(({ id }) => id));
  const closed = closedItems(state.inbox, now).filter(({ push }) => !shown.has(push.id));
  return (
    <div class="page">
      <PageHead heading={TEXT.heading} back={TEXT.back} backTo={{ view: "picker" }} />
      <main class="picker inbox">
        <p class="visually-hidden" role="status">{QUESTION.announce(open.length + dialogs.length)}</p>
        {state.inbox.size === 0 && dialogs.length === 0 && (
          <EmptyState history={state.history} link={state.link} />
        )}
        <Group name="open" items={open} {...{ state, dialogs, now, actions }} />
        <Group name="closed" items={closed} {...{ state, dialogs: [], now, actions }} />
        {state.history === "more" && (
          <button type="button" class="secondary older" onClick={actions.readOlder}>
            {STRINGS.session.older}
          </button>
        )}
      </main>
      {notice}
    </div>
  );
}

interface GroupProps {
  name: "open" | "closed";
  items: readonly InboxItem[];
  dialogs: readonly DialogView[];
  state: PhoneState;
  now: number;
  actions: InboxActions;
}

function Group({ name, items, dialogs, state, now, actions }: GroupProps): JSX.Element | null {
  const size = items.length + dialogs.length;
  if (size === 0) return null;
  return (
    <section class="group" data-group={name} aria-labelledby={`inbox-${name}`}>
      <h2 id={`inbox-${name}`}>
        {TEXT[name]}
        {name === "open" && <span class="group-count">{size}</span>}
      </h2>
      <ul class="cards">
        {dialogs.map((dialog) => (
          <DialogCard key={dialog.id} place="inbox" {...{ state, dialog, now, actions }} />
        ))}
        {items.map((item) =>
          item.kind === "question"
            ? (
              <AskCard
                key={item.push.id}
                {...{ state, item, now, actions }}
                option={optionFor(item, state)}
              />
            )
            : <NotificationCard key={item.push.id} {...{ state, item, now }} />
        )}
      </ul>
    </section>
  );
}

/** The option that a notification's button named. */
function optionFor({ push }: InboxItem, { route }: PhoneState): number | undefined {
  return route.view === "inbox" && route.item === push.id ? route.option : undefined;
}

export interface DialogActions {
  answerDialog(dialog: DialogView, action: "reject" | "interrupt"): void;
}

interface DialogCardProps {
  state: PhoneState;
  dialog: DialogView;
  /** The relay's clock. */
  now: number;
  /** In a session, the heading has the label; next to its terminal, the screen has the text. */
  place: "inbox" | "messages" | "terminal";
  actions: DialogActions;
}

/** An open dialog: its text, how long it has been waiting, and what may be done about it from here. */
export function DialogCard({ state, dialog, now, place, actions }: DialogCardProps): JSX.Element {
  const { session, since, can, push } = dialog;
  const href = formatRoute({ view: "session", deviceId: session.deviceId, session: session.entry.name });
  return (
    <li class="card dialog-card" data-place={place} data-id={dialog.id}>
      <div class="card-head">
        {place === "inbox"
          ? (
            <a class="card-session" href={href}>
              <span class="source">
                <SessionLabel session={session} />
                <SourceHost state={state} deviceId={session.deviceId} />
              </span>
            </a>
          )
          : <span class="label">{DIALOG.open}</span>}
        <span class="chip" data-state="waiting">{DIALOG.waiting(formatAge(now - since))}</span>
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
  if (push === undefined) return <p class="question-text" role="status">{DIALOG.loading}</p>;
  if (push.body === undefined) {
    const isSealed = push.sealedFor !== undefined;
    return <p class="question-text">{isSealed ? SESSION_TEXT.sealed.forOthers : DIALOG.open}</p>;
  }
  return <pre class="dialog-text" tabIndex={0}>{push.body}</pre>;
}

function Buttons({ dialog, actions }: Pick<DialogCardProps, "dialog" | "actions">): JSX.Element {
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
          {DIALOG[action]}
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
  if (progress.kind === "outbox") return DIALOG.sending;
  if (progress.kind === "failed") return DIALOG.failed(failureDetail(progress.failure));
  const { state, reason = "" } = progress.receipt;
  if (state === "submitted") return DIALOG.done;
  if (!progress.receipt.final) return DIALOG.sending;
  return DIALOG.failed(
    (STRINGS.reasons as Partial<Record<string, string>>)[reason] ?? STRINGS.receipt.states[state],
  );
}

function isRefused({ progress }: Message): boolean {
  return progress.kind === "failed" ||
    (progress.kind === "taken" && progress.receipt.final && progress.receipt.state !== "submitted");
}

function settingOf(can: readonly string[]): string {
  if (can.includes("type")) return DIALOG.setting.type;
  return can.includes("reject") ? DIALOG.setting.reject : DIALOG.setting.none;
}

export function NotificationCard(
  { state, item, now }: { state: PhoneState; item: NotificationItem; now: number },
): JSX.Element {
  const { push, type } = item;
  const isDialog = push.data?.["event"] === "dialog";
  return (
    <li
      class="card notification"
      data-id={push.id}
      data-type={type}
      data-level={String(push.data?.["level"] ?? "")}
    >
      <div class="card-head">
        <SourceSession state={state} push={push} />
        <time class="card-time" dateTime={new Date(push.createdAt).toISOString()}>
          {formatTime(push.createdAt, now)}
        </time>
      </div>
      <p class="facts">
        <span class="fact-icon">
          <Icon name="bell" />
          {isDialog ? DIALOG.closed : TEXT.notifications[type]}
        </span>
      </p>
      <PlainSign state={state} push={push} />
      {isUnreadable(push) && <p class="question-text">{SESSION_TEXT.sealed.forOthers}</p>}
      {push.title && <p class="notification-title">{push.title}</p>}
      {push.body && (isDialog ? <pre class="dialog-text">{push.body}</pre> : <Markdown text={push.body} />)}
    </li>
  );
}

/** True if the text is encrypted for other phones. */
function isUnreadable({ sealedFor, title, body }: NotificationItem["push"]): boolean {
  return sealedFor !== undefined && title === undefined && body === undefined;
}

function EmptyState({ history, link }: Pick<PhoneState, "history" | "link">): JSX.Element {
  if (history === "unread") {
    return <p class="empty" role="status">{link.kind === "down" ? TEXT.notReached : TEXT.loading}</p>;
  }
  return (
    <div class="empty">
      <h2>{TEXT.emptyHeading}</h2>
      <p>{TEXT.emptyText}</p>
    </div>
  );
}
