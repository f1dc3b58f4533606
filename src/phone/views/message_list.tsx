/** A session's messages with their receipts and what can be done with them, oldest first. Stays scrolled to the end unless the user scrolls up. */
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatTime, formatWait } from "../format_time.ts";
import type { InboxItem } from "../inbox.ts";
import type { Message } from "../message.ts";
import type { ReceiptText } from "../receipt_text.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { answerDraftKey, type PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { type AskActions, AskCard } from "./ask_card.tsx";
import { useFollowedEnd } from "./followed_end.ts";
import { Markdown } from "./markdown.tsx";
import { Icon, NotEncrypted, PlainSign, TONE_ICONS, useNow } from "./shared.tsx";

const { session: TEXT, bubble: BUBBLE } = STRINGS;
/** This close to the end counts as being at the end. */
const END_PIXELS = 60;
/** The gap above the waiting items when they begin at the top. */
const WAITING_GAP_PIXELS = 10;

export interface Shown {
  message: Message;
  receipt: ReceiptText;
  /** The phone is paired, and cannot tell whether the relay made up this message or its receipt. */
  mayBeForged: boolean;
}

/** Messages and items by time; scheduled messages come last. */
function inOrder(shown: readonly Shown[], items: readonly InboxItem[]): (Shown | InboxItem)[] {
  const time = (entry: Shown | InboxItem): number => {
    if ("push" in entry) return entry.push.createdAt;
    return entry.receipt.isScheduled ? Infinity : entry.message.createdAt;
  };
  return [...shown, ...items].sort((one, other) => time(one) - time(other) || 0);
}

export interface MessageActions extends ReceiptActionsHandlers, AskActions {
  readOlder(): void;
}

interface Props {
  shown: readonly Shown[];
  /** What the agent sent, oldest first. Open questions are in `waiting`. */
  items: readonly InboxItem[];
  state: PhoneState;
  /** What waits for the user, after the messages. */
  waiting: JSX.Element | undefined;
  /** The session has ended: nothing more can be sent. */
  isOver: boolean;
  now: number;
  actions: MessageActions;
}

export function MessageList({ shown, state, waiting, isOver, now, actions, ...props }: Props): JSX.Element {
  const items = props.items.filter((one) => one.kind !== "question" || one.receipt.final);
  const { history, clockOffsetMs, link } = state;
  const bubbles = useMemo(() => (
    <ol class="bubbles">
      {inOrder(shown, items).map((entry) =>
        "message" in entry
          ? <Bubble key={entry.message.id} {...{ ...entry, now, clockOffsetMs, actions }} />
          : <AgentEntry key={entry.push.id} item={entry} {...{ state, now, actions }} />
      )}
    </ol>
  ), [now, ...drawnFrom(state)]);
  const { list, scrolled } = useStickToEnd([shown, waiting], shown.findLast(isJustSent)?.message.id);
  const last = shown.findLast(({ mayBeForged }) => !mayBeForged)?.receipt;
  return (
    <main class="messages" ref={list} tabIndex={0} aria-label={TEXT.messages} onScroll={scrolled}>
      {history === "more" && (
        <button type="button" class="secondary older" onClick={actions.readOlder}>{TEXT.older}</button>
      )}
      {history === "unread" && <Unread isReached={link.kind !== "down"} />}
      {history !== "unread" && shown.length === 0 && items.length === 0 && !waiting && (
        <EmptyState isOver={isOver} />
      )}
      {bubbles}
      {waiting && <div class="waiting">{waiting}</div>}
      <p class="visually-hidden" role="status">{last && BUBBLE.announce(last.state, last.detail)}</p>
    </main>
  );
}

/** True until the message is stored, which takes longer than drawing it. */
function isJustSent({ message: { progress } }: Shown): boolean {
  return "unsaved" in progress;
}

/**
 * The state that is drawn. Only the drafts of answers are included: typing a message must not redraw a long
 * conversation.
 */
function drawnFrom({ drafts, ...rest }: PhoneState): unknown[] {
  const answers = Object.entries(drafts).filter(([key]) => key.startsWith(answerDraftKey("")));
  return [...Object.values(rest), ...answers.flat()];
}

/** Shown until the history is read, together with unsent messages. */
function Unread({ isReached }: { isReached: boolean }): JSX.Element {
  return <p class="empty unread-history" role="status">{isReached ? TEXT.loading : TEXT.notReached}</p>;
}

function EmptyState({ isOver }: Pick<Props, "isOver">): JSX.Element {
  return (
    <div class="empty">
      <h2>{TEXT.emptyHeading}</h2>
      {!isOver && <p>{TEXT.emptyText}</p>}
    </div>
  );
}

/** The scroll position of the list's end, or of the first waiting item if they do not all fit. */
function endOf(list: HTMLElement): number {
  const end = list.scrollHeight - list.clientHeight;
  const waiting = list.querySelector(".waiting");
  if (waiting === null) return end;
  const { top } = waiting.getBoundingClientRect();
  return Math.min(end, list.scrollTop + top - list.getBoundingClientRect().top - WAITING_GAP_PIXELS);
}

/**
 * Keeps the list at its end when messages are added or the field grows. If the user has scrolled away, the first
 * message in view keeps its place, even if earlier ones are added above it. A message that was `sent` comes into view.
 * Call `scrolled` after each scroll event.
 */
function useStickToEnd(content: unknown, sent: string | undefined) {
  const list = useRef<HTMLElement>(null);
  const end = useFollowedEnd(list, { near: END_PIXELS, endOf });
  const reading = useRef<{ message: Element; top: number }>(undefined);
  const note = (): void => {
    const message = list.current === null || end.isAt() ? undefined : firstInView(list.current);
    reading.current = message && { message, top: message.getBoundingClientRect().top };
  };
  useLayoutEffect(() => {
    const { message, top = 0 } = reading.current ?? {};
    end.follow();
    if (message?.isConnected) list.current?.scrollBy(0, message.getBoundingClientRect().top - top);
    note();
  }, [content]);
  const scrolled = (): void => {
    end.scrolled();
    note();
  };
  useLayoutEffect(() => {
    list.current?.querySelector(`[data-id="${sent}"]`)?.scrollIntoView({ block: "nearest" });
    scrolled();
  }, [sent]);
  return { list, scrolled };
}

function firstInView(list: HTMLElement): Element | undefined {
  const { top } = list.getBoundingClientRect();
  return [...list.querySelectorAll(".bubbles > li")].find((message) =>
    message.getBoundingClientRect().bottom > top
  );
}

interface AgentEntryProps {
  item: InboxItem;
  state: PhoneState;
  now: number;
  actions: MessageActions;
}

/** A closed question, the text of a turn's end, or a note. */
function AgentEntry({ item, state, now, actions }: AgentEntryProps): JSX.Element {
  if (item.kind === "question") return <AskCard {...{ state, item, now, actions }} />;
  const { push, type } = item;
  const text = push.body ?? (push.sealedFor === undefined || push.title ? "" : SESSION_TEXT.sealed.forOthers);
  const isDialog = push.data?.["event"] === "dialog";
  return (
    <li class="agent-entry" data-type={type} data-id={push.id}>
      <div class="bubble">
        {push.title && type !== "agent.stop" && <p class="notification-title">{push.title}</p>}
        {isDialog ? <pre class="dialog-text">{text}</pre> : text !== "" && <Markdown text={text} />}
      </div>
      <p class="receipt">
        <span class="receipt-state">
          {isDialog ? SESSION_TEXT.dialog.closed : STRINGS.inbox.notifications[type]}
        </span>
        <time dateTime={new Date(push.createdAt).toISOString()}>{formatTime(push.createdAt, now)}</time>
      </p>
      <PlainSign state={state} push={push} />
    </li>
  );
}

/** Longer texts are folded at first. */
const FOLD_FROM_CHARS = 700;
const FOLD_FROM_LINES = 12;

interface BubbleProps extends Shown {
  /** The relay's clock. */
  now: number;
  clockOffsetMs: number;
  actions: MessageActions;
}

function Bubble(props: BubbleProps): JSX.Element {
  const { message, receipt, mayBeForged, now } = props;
  return (
    <li class="message" data-tone={receipt.tone} data-id={message.id}>
      <Text body={message.sealed === "elsewhere" ? SESSION_TEXT.sealed.elsewhere : message.body} />
      <p class="receipt">
        <Icon name={TONE_ICONS[receipt.tone]} />
        <span class="receipt-state">{receipt.state}</span>
        <time dateTime={new Date(message.createdAt).toISOString()}>
          {formatTime(message.createdAt, now)}
        </time>
      </p>
      {receipt.detail !== "" && <p class="receipt-detail">{receipt.detail}</p>}
      {mayBeForged && message.sealed === undefined && <NotEncrypted />}
      <ReceiptActions {...props} />
    </li>
  );
}

function Text({ body }: { body: string }): JSX.Element {
  const [open, setOpen] = useState(false);
  const long = body.length > FOLD_FROM_CHARS || body.split("\n").length > FOLD_FROM_LINES;
  return (
    <div class="bubble">
      <p class="body" data-folded={long && !open}>{body}</p>
      {long && (
        <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? BUBBLE.showLess : BUBBLE.showAll}
        </button>
      )}
    </div>
  );
}

const SECOND_MS = 1_000;
const RARELY_MS = 3_600_000;

interface ReceiptActionsHandlers {
  resend(message: Message): void;
  discard(id: string): void;
  cancel(message: Message): void;
  edit(message: Message): void;
}

interface ReceiptActionsProps {
  message: Message;
  receipt: ReceiptText;
  clockOffsetMs: number;
  actions: ReceiptActionsHandlers;
}

/** The actions on a message, wherever its receipt is shown. */
export function ReceiptActions(
  { message, receipt, clockOffsetMs, actions }: ReceiptActionsProps,
): JSX.Element | null {
  const { discardable, cancellable, editable, resendFrom } = receipt;
  const edit = (): void => {
    actions.edit(message);
    // Waits until the field is drawn: an ended session only has one while there is a draft.
    queueMicrotask(() => document.querySelector<HTMLElement>(".composer textarea")?.focus());
  };
  if (!discardable && !cancellable && !editable && resendFrom === undefined) return null;
  return (
    <div class="bubble-actions">
      {discardable && <Quiet label={BUBBLE.discard} onClick={() => actions.discard(message.id)} />}
      {cancellable && <Quiet label={BUBBLE.cancel} onClick={() => actions.cancel(message)} />}
      {editable && <Quiet label={BUBBLE.edit} onClick={edit} />}
      {resendFrom !== undefined && (
        <ResendButton
          from={resendFrom - clockOffsetMs}
          label={receipt.anyway ? BUBBLE.sendAnyway : BUBBLE.sendAgain}
          onClick={() => actions.resend(message)}
        />
      )}
    </div>
  );
}

function Quiet({ label, onClick }: { label: string; onClick(): void }): JSX.Element {
  return <button type="button" class="quiet" onClick={onClick}>{label}</button>;
}

/** Counts down to `from`, by this device's clock. */
function ResendButton(
  { from, label, onClick }: { from: number; label: string; onClick(): void },
): JSX.Element {
  const now = useNow(from > Date.now() ? SECOND_MS : RARELY_MS);
  const wait = from - now;
  return (
    <button type="button" class="secondary" disabled={wait > 0} onClick={onClick}>
      {wait > 0 ? BUBBLE.sendAgainIn(formatWait(wait)) : label}
    </button>
  );
}
