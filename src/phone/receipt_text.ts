/** What a message's bubble says: how far it got, why it stopped there, and what to do. */
import { type PushState, type Reason, REASONS, type Receipt } from "../protocol/receipt.ts";
import { formatTime } from "./format_time.ts";
import type { Message, SendFailure } from "./message.ts";
import { STRINGS } from "./strings.ts";

export type Tone = "pending" | "held" | "good" | "unsure" | "bad";

export interface ReceiptText {
  tone: Tone;
  /** One or two words. */
  state: string;
  /** Why, and what to do, in a sentence or two. Empty if the state says it all. */
  detail: string;
  /** From when the same text may be sent again, in epoch milliseconds by the relay's clock. */
  resendFrom?: number;
  /** Sending it again types it even while the local user is typing. */
  anyway?: boolean;
  /** It has not left this phone, so it can be discarded. */
  discardable?: boolean;
}

/** What the text depends on besides the message. `now` is by the relay's clock. */
export interface ReceiptContext {
  live: boolean;
  hostOnline: boolean;
  /** The same text was sent again later. */
  sentAgain: boolean;
  now: number;
}

const { receipt: TEXT, reasons: WHY, advice: ADVICE } = STRINGS;

export function receiptText(message: Message, context: ReceiptContext): ReceiptText {
  const { resendFrom, ...text } = progressText(message, context);
  return resendFrom === undefined || context.sentAgain ? text : { ...text, resendFrom };
}

function progressText({ progress }: Message, context: ReceiptContext): ReceiptText {
  switch (progress.kind) {
    case "outbox": {
      const state = context.live ? TEXT.sending : TEXT.waitingForLink;
      return { tone: "pending", state, detail: "", discardable: true };
    }
    case "failed":
      return {
        tone: "bad",
        state: TEXT.failed,
        detail: failureDetail(progress.failure),
        resendFrom: 0,
        discardable: true,
      };
    case "taken":
      return withClaim(
        takenText(progress.receipt, progress.expiresAt, context),
        progress.unproven,
      );
  }
}

/** Shows a state that only the relay claims beside the known one. */
function withClaim(text: ReceiptText, unproven: PushState | undefined): ReceiptText {
  if (unproven === undefined) return text;
  return { ...text, tone: "unsure", detail: TEXT.unproven(TEXT.states[unproven]) };
}

function takenText(receipt: Receipt, expiresAt: number, context: ReceiptContext): ReceiptText {
  const state = TEXT.states[receipt.state];
  switch (receipt.state) {
    case "queued": {
      const until = formatTime(expiresAt, context.now);
      return { tone: "pending", state, detail: context.hostOnline ? "" : TEXT.queuedOffline(until) };
    }
    case "delivered":
      return { tone: "pending", state, detail: "" };
    case "held":
      return { tone: "held", state, detail: heldDetail(receipt) };
    case "typed":
      return receipt.final
        ? { tone: "unsure", state, detail: TEXT.typedFinal }
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
      return { tone: "bad", state, detail: TEXT.expired, resendFrom: 0 };
    case "unknown":
      return { tone: "unsure", state, detail: reasonDetail(receipt) || TEXT.unknown, resendFrom: 0 };
  }
}

function heldDetail({ reason }: Receipt): string {
  if (!isReason(reason)) return TEXT.heldGoesOn;
  const todo = reason === "dialog_open" ? `${ADVICE[reason]} ` : "";
  return `${WHY[reason]} ${todo}${TEXT.heldGoesOn}`;
}

function reasonDetail({ reason }: Receipt): string {
  if (isReason(reason)) return `${WHY[reason]} ${ADVICE[reason]}`;
  return reason === undefined ? "" : TEXT.refusedOther(reason);
}

/** The time of the refusal plus its Retry-After. */
function resendFrom({ state, at, retryAfterSeconds }: Receipt): number {
  return retryAfterSeconds === undefined ? 0 : (at[state] ?? 0) + retryAfterSeconds * 1_000;
}

function isReason(reason: string | undefined): reason is Reason {
  return reason !== undefined && Object.hasOwn(REASONS, reason);
}

function failureDetail({ code, message }: SendFailure): string {
  return TEXT.failures[code] ?? (/[.!?]$/.test(message) ? message : `${message}.`);
}
