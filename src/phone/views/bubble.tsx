/** One message with its receipt. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { momentWords } from "../ages.ts";
import type { Message } from "../message.ts";
import type { ReceiptWords } from "../receipt_words.ts";
import { STRINGS } from "../strings.ts";
import { Icon, TONE_ICONS } from "./icons.tsx";
import { useNow } from "./use_now.ts";

const { bubble: WORDS } = STRINGS;
/** Longer texts are folded until asked for. */
const FOLD_FROM_CHARS = 700;
const FOLD_FROM_LINES = 12;
const SECOND_MS = 1_000;
const RARELY_MS = 3_600_000;

interface Props {
  message: Message;
  words: ReceiptWords;
  /** By the relay's clock. */
  now: number;
  clockOffsetMs: number;
  onResend(message: Message): void;
  onDiscard(id: string): void;
}

export function Bubble(props: Props): JSX.Element {
  const { message, words, now } = props;
  return (
    <li class="message" data-tone={words.tone} data-id={message.id}>
      <Text body={message.sealed === "elsewhere" ? STRINGS.sealing.elsewhere : message.body} />
      <p class="receipt">
        <Icon name={TONE_ICONS[words.tone]} />
        <span class="receipt-state">{words.state}</span>
        <time dateTime={new Date(message.createdAt).toISOString()}>
          {momentWords(message.createdAt, now)}
        </time>
      </p>
      {words.detail !== "" && <p class="receipt-detail">{words.detail}</p>}
      <Actions {...props} />
    </li>
  );
}

function Actions({ message, words, clockOffsetMs, onResend, onDiscard }: Props): JSX.Element | null {
  const { resendFrom, discardable } = words;
  if (message.sealed === "elsewhere" || (resendFrom === undefined && !discardable)) return null;
  return (
    <div class="bubble-actions">
      {discardable && (
        <button type="button" class="quiet" onClick={() => onDiscard(message.id)}>{WORDS.discard}</button>
      )}
      {resendFrom !== undefined && (
        <ResendButton
          from={resendFrom - clockOffsetMs}
          label={words.anyway ? WORDS.sendAnyway : WORDS.sendAgain}
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
      {seconds > 0 ? WORDS.sendAgainIn(seconds) : label}
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
          {open ? WORDS.showLess : WORDS.showAll}
        </button>
      )}
    </div>
  );
}
