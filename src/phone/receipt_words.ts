/** What a message's bubble says: how far it came, why it went no further, and what can be done. */
import { type PushState, type Reason, REASONS, type Receipt } from "../protocol/receipt.ts";
import { momentWords } from "./ages.ts";
import type { Message, SendFailure } from "./message.ts";
import { STRINGS } from "./strings.ts";

export type Tone = "pending" | "held" | "good" | "unsure" | "bad";

export interface ReceiptWords {
  tone: Tone;
  /** One or two words. */
  state: string;
  /** A sentence or two: why, and what to do. Empty when the state says it all. */
  detail: string;
  /** Epoch milliseconds by the relay's clock from which the same text may be sent again. */
  resendFrom?: number;
  /** Sent again it is typed although someone types at the computer. */
  anyway?: boolean;
  /** It has not left this phone, so it can be taken back. */
  discardable?: boolean;
}

/** What the words depend on besides the message; `now` by the relay's clock. */
export interface Circumstances {
  live: boolean;
  hostOnline: boolean;
  /** The same text went out again later. */
  sentAgain: boolean;
  now: number;
}

const { receipt: WORDS, advice: ADVICE } = STRINGS;

export function receiptWords(message: Message, circumstances: Circumstances): ReceiptWords {
  const { resendFrom, ...words } = wordsOf(message, circumstances);
  return resendFrom === undefined || circumstances.sentAgain ? words : { ...words, resendFrom };
}

function wordsOf({ progress }: Message, circumstances: Circumstances): ReceiptWords {
  switch (progress.kind) {
    case "outbox": {
      const state = circumstances.live ? WORDS.sending : WORDS.waitingForLink;
      return { tone: "pending", state, detail: "", discardable: true };
    }
    case "failed":
      return {
        tone: "bad",
        state: WORDS.failed,
        detail: failureDetail(progress.failure),
        resendFrom: 0,
        discardable: true,
      };
    case "taken":
      return unprovenWords(
        takenWords(progress.receipt, progress.expiresAt, circumstances),
        progress.unproven,
      );
  }
}

/** What only the relay says does not take the place of what is known. */
function unprovenWords(words: ReceiptWords, unproven: PushState | undefined): ReceiptWords {
  if (unproven === undefined) return words;
  return { ...words, tone: "unsure", detail: WORDS.unproven(WORDS.states[unproven]) };
}

function takenWords(receipt: Receipt, expiresAt: number, circumstances: Circumstances): ReceiptWords {
  const state = WORDS.states[receipt.state];
  switch (receipt.state) {
    case "queued": {
      const until = momentWords(expiresAt, circumstances.now);
      return { tone: "pending", state, detail: circumstances.hostOnline ? "" : WORDS.queuedOffline(until) };
    }
    case "delivered":
      return { tone: "pending", state, detail: "" };
    case "held":
      return { tone: "held", state, detail: heldDetail(receipt) };
    case "typed":
      return receipt.final
        ? { tone: "unsure", state, detail: WORDS.typedFinal }
        : { tone: "pending", state, detail: "" };
    case "submitted":
    case "answered":
    case "withdrawn":
      return { tone: "good", state, detail: "" };
    case "refused":
    case "ignored": {
      const anyway = receipt.reason === "desk_busy" ? { anyway: true } : {};
      return {
        tone: "bad",
        state,
        detail: reasonDetail(receipt),
        resendFrom: resendFrom(receipt),
        ...anyway,
      };
    }
    case "expired":
      return { tone: "bad", state, detail: WORDS.expired, resendFrom: 0 };
    case "unknown":
      return { tone: "unsure", state, detail: reasonDetail(receipt) || WORDS.unknown, resendFrom: 0 };
  }
}

function heldDetail({ reason }: Receipt): string {
  if (!isReason(reason)) return WORDS.heldGoesOn;
  const todo = reason === "dialog_open" ? `${ADVICE[reason]} ` : "";
  return `${REASONS[reason]} ${todo}${WORDS.heldGoesOn}`;
}

function reasonDetail({ reason }: Receipt): string {
  if (isReason(reason)) return `${REASONS[reason]} ${ADVICE[reason]}`;
  return reason === undefined ? "" : WORDS.refusedOther(reason);
}

/** The moment of the refusal and the wait that came with it. */
function resendFrom({ state, at, retryAfterSeconds }: Receipt): number {
  return retryAfterSeconds === undefined ? 0 : (at[state] ?? 0) + retryAfterSeconds * 1_000;
}

function isReason(reason: string | undefined): reason is Reason {
  return reason !== undefined && Object.hasOwn(REASONS, reason);
}

function failureDetail({ code, message }: SendFailure): string {
  return WORDS.failures[code] ?? (/[.!?]$/.test(message) ? message : `${message}.`);
}
