/** A session's messages with their receipts, oldest first. Stays scrolled to the end unless the user scrolls up. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatTime } from "../format_time.ts";
import type { Message } from "../message.ts";
import type { ReceiptText } from "../receipt_text.ts";
import type { PhoneState } from "../state.ts";
import { STRINGS } from "../strings.ts";
import { Icon, TONE_ICONS, useNow } from "./shared.tsx";

const { session: TEXT, bubble: BUBBLE } = STRINGS;
/** This close to the end counts as being at the end. */
const END_PIXELS = 60;

export interface MessageActions {
  resend(message: Message): void;
  discard(id: string): void;
  readOlder(): void;
}

interface Props {
  shown: readonly { message: Message; receipt: ReceiptText }[];
  history: PhoneState["history"];
  now: number;
  clockOffsetMs: number;
  actions: MessageActions;
}

export function MessageList({ shown, history, now, clockOffsetMs, actions }: Props): JSX.Element {
  const list = useStickToEnd(shown);
  const last = shown.at(-1)?.receipt;
  return (
    <main class="messages" ref={list} tabIndex={0} aria-label={TEXT.messages}>
      {history === "more" && (
        <button type="button" class="secondary older" onClick={actions.readOlder}>{TEXT.older}</button>
      )}
      {shown.length === 0 && <EmptyState history={history} />}
      <ol class="bubbles">
        {shown.map(({ message, receipt }) => (
          <Bubble
            key={message.id}
            message={message}
            receipt={receipt}
            now={now}
            clockOffsetMs={clockOffsetMs}
            onResend={actions.resend}
            onDiscard={actions.discard}
          />
        ))}
      </ol>
      <p class="visually-hidden" role="status">{last && BUBBLE.announce(last.state, last.detail)}</p>
    </main>
  );
}

function EmptyState({ history }: { history: PhoneState["history"] }): JSX.Element {
  if (history === "unread") return <p class="empty" role="status">{TEXT.loading}</p>;
  return (
    <div class="empty">
      <h2>{TEXT.emptyHeading}</h2>
      <p>{TEXT.emptyText}</p>
    </div>
  );
}

/** Keeps the list at its end when messages are added or the field grows, unless the user has scrolled up. */
function useStickToEnd(content: unknown) {
  const list = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  const follow = (): void => {
    if (atEnd.current) list.current?.scrollTo(0, list.current.scrollHeight);
  };
  useLayoutEffect(follow, [content]);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const onScroll = (): void => {
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < END_PIXELS;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    const observer = new ResizeObserver(follow);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, []);
  return list;
}

/** Longer texts are folded at first. */
const FOLD_FROM_CHARS = 700;
const FOLD_FROM_LINES = 12;
const SECOND_MS = 1_000;
const RARELY_MS = 3_600_000;

interface BubbleProps {
  message: Message;
  receipt: ReceiptText;
  /** The relay's clock. */
  now: number;
  clockOffsetMs: number;
  onResend(message: Message): void;
  onDiscard(id: string): void;
}

function Bubble(props: BubbleProps): JSX.Element {
  const { message, receipt, now } = props;
  return (
    <li class="message" data-tone={receipt.tone} data-id={message.id}>
      <Text body={message.sealed === "elsewhere" ? STRINGS.sealing.elsewhere : message.body} />
      <p class="receipt">
        <Icon name={TONE_ICONS[receipt.tone]} />
        <span class="receipt-state">{receipt.state}</span>
        <time dateTime={new Date(message.createdAt).toISOString()}>
          {formatTime(message.createdAt, now)}
        </time>
      </p>
      {receipt.detail !== "" && <p class="receipt-detail">{receipt.detail}</p>}
      <Actions {...props} />
    </li>
  );
}

function Actions({ message, receipt, clockOffsetMs, onResend, onDiscard }: BubbleProps): JSX.Element | null {
  const { resendFrom, discardable } = receipt;
  if (message.sealed === "elsewhere" || (resendFrom === undefined && !discardable)) return null;
  return (
    <div class="bubble-actions">
      {discardable && (
        <button type="button" class="quiet" onClick={() => onDiscard(message.id)}>{BUBBLE.discard}</button>
      )}
      {resendFrom !== undefined && (
        <ResendButton
          from={resendFrom - clockOffsetMs}
          label={receipt.anyway ? BUBBLE.sendAnyway : BUBBLE.sendAgain}
          onClick={() => onResend(message)}
        />
      )}
    </div>
  );
}

/** Counts down to `from`, by this device's clock. */
function ResendButton(
  { from, label, onClick }: { from: number; label: string; onClick(): void },
): JSX.Element {
  const now = useNow(from > Date.now() ? SECOND_MS : RARELY_MS);
  const seconds = Math.ceil((from - now) / SECOND_MS);
  return (
    <button type="button" class="secondary" disabled={seconds > 0} onClick={onClick}>
      {seconds > 0 ? BUBBLE.sendAgainIn(seconds) : label}
    </button>
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
