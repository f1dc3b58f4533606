/** The text of a message's bubble: how far it got, why it stopped there, and what to do. */
import { REASONS } from "../protocol/reasons.ts";
import type { PushState, Reason, Receipt } from "../protocol/receipt.ts";
import type { Later } from "../protocol/push.ts";
import { formatTime } from "./format_time.ts";
import { mayInsist, type Message, waitsForLink } from "./message.ts";
import { failureDetail } from "./requests.ts";
import { STRINGS } from "./strings.ts";

export type Tone = "pending" | "held" | "good" | "unsure" | "bad" | "off";

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
  /** The relay rejected it, so it can be discarded. */
  discardable?: boolean;
  /** It can still be cancelled. */
  cancellable?: boolean;
  /** Its text can become the draft: it is not typed, or can still be cancelled. */
  editable?: boolean;
  /** It waits for a time or for the agent. */
  isScheduled?: boolean;
}

/** What the text depends on besides the message. `now` is by the relay's clock. */
export interface ReceiptContext {
  live: boolean;
  hostOnline: boolean;
  /** The same text was sent again later. */
  sentAgain: boolean;
  /** Its cancellation is not settled yet. */
  cancelling?: boolean;
  /** Its host will not type it. */
  cancelledByHost?: boolean;
  /** This phone cannot check the receipt, so it is not shown as good news. */
  mayBeForged?: boolean;
  now: number;
}

const { receipt: TEXT, reasons: WHY, advice: ADVICE } = STRINGS;

export function receiptText(message: Message, context: ReceiptContext): ReceiptText {
  const { resendFrom, ...progress } = progressText(message, context);
  const isUnsure = context.mayBeForged && progress.tone === "good";
  const text: ReceiptText = isUnsure ? { ...progress, tone: "unsure" } : progress;
  const isOffered = resendFrom !== undefined && !context.sentAgain && isReusable(message);
  return isOffered ? { ...text, resendFrom } : text;
}

/** True if this phone knows the text, and for which host and session it was. */
export function isReusable({ sealed }: Message): boolean {
  return sealed === undefined || sealed === "here";
}

function progressText(message: Message, context: ReceiptContext): ReceiptText {
  const { progress, later } = message;
  const editable = isReusable(message);
  switch (progress.kind) {
    case "outbox": {
      const state = waitsForLink(message, context.live) ? TEXT.waitingForLink : TEXT.sending;
      const detail = progress.problem ? failureDetail(progress.problem) : "";
      return { tone: "pending", state, detail, cancellable: true, editable };
    }
    case "failed":
      return {
        tone: "bad",
        state: TEXT.failed,
        detail: failureDetail(progress.failure),
        resendFrom: 0,
        discardable: true,
        editable,
      };
    case "taken": {
      const { receipt, expiresAt } = progress;
      const claimed = progress.unproven ??
        (receipt.deliverable && !context.cancelledByHost ? receipt.state : undefined);
      const { anyway, ...taken } = takenText(receipt, expiresAt, context);
      // A message that was already sent with `sendAnyway` met something that it cannot override.
      const text = anyway && !message.sendAnyway ? { ...taken, anyway } : taken;
      if (context.cancelling && text.cancellable) return withClaim(cancellingText(context), claimed);
      const isWaiting = later !== undefined && text.cancellable && waitsForLater(receipt);
      return withClaim(
        {
          ...isWaiting ? { ...text, ...scheduledText(later, context) } : text,
          ...text.editable && !editable ? { editable } : {},
        },
        claimed,
      );
    }
  }
}

function cancellingText({ hostOnline }: ReceiptContext): ReceiptText {
  return { tone: "pending", state: TEXT.cancelling, detail: hostOnline ? "" : TEXT.cancellingOffline };
}

/** True if the message waits for its time, and for nothing else that keeps it from being typed. */
function waitsForLater({ state, reason }: Receipt): boolean {
  return state !== "held" || reason === "not_before" || reason === "until_idle" || reason === "until_reset";
}

function scheduledText(later: Later, { hostOnline, now }: ReceiptContext): Omit<ReceiptText, "resendFrom"> {
  const when = later.kind === "at" ? TEXT.laterAt(formatTime(later.at, now)) : TEXT.laterWhen[later.kind];
  const detail = hostOnline ? when : `${when} ${TEXT.laterOffline}`;
  return { tone: "pending", state: TEXT.scheduled, detail, isScheduled: true };
}

/** Adds a state that only the relay claims. */
function withClaim(text: ReceiptText, claimed: PushState | undefined): ReceiptText {
  if (claimed === undefined) return text;
  return { ...text, tone: "unsure", detail: TEXT.unproven(TEXT.states[claimed]) };
}

function takenText(receipt: Receipt, expiresAt: number, context: ReceiptContext): ReceiptText {
  const state = TEXT.states[receipt.state];
  switch (receipt.state) {
    case "queued": {
      const until = formatTime(expiresAt, context.now);
      // The expiry is not known until the relay has answered.
      const detail = context.hostOnline || expiresAt === 0 ? "" : TEXT.queuedOffline(until);
      return { tone: "pending", state, detail, cancellable: true, editable: true };
    }
    case "delivered":
      return { tone: "pending", state, detail: "", cancellable: true, editable: true };
    case "held":
      return { tone: "held", state, detail: heldDetail(receipt), cancellable: true, editable: true };
    case "typed":
      return receipt.final
        ? { tone: "unsure", state, detail: TEXT.typedFinal }
        : { tone: "pending", state, detail: "" };
    case "submitted":
    case "answered":
      return { tone: "good", state, detail: "" };
    case "withdrawn":
      return { tone: "off", state: TEXT.cancelled, detail: "", resendFrom: 0, editable: true };
    case "refused":
    case "ignored":
      return {
        tone: "bad",
        state,
        detail: reasonDetail(receipt),
        editable: receipt.reason !== "answer_taken",
        ...(isHopeless(receipt) ? {} : { resendFrom: resendFrom(receipt) }),
        ...(mayInsist(receipt) ? { anyway: true } : {}),
      };
    case "expired":
      return { tone: "bad", state, detail: TEXT.expired, resendFrom: 0, editable: true };
    case "unknown":
      return { tone: "unsure", state, detail: reasonDetail(receipt) || TEXT.unknown, resendFrom: 0 };
  }
}

/** An open dialog's card shows what can be done. */
function heldDetail(receipt: Receipt): string {
  const { reason } = receipt;
  if (!isReason(reason)) return TEXT.heldGoesOn;
  if (reason === "dialog_open") return TEXT.heldByDialog;
  return `${WHY[reason]} ${mayInsist(receipt) ? TEXT.heldBriefly : TEXT.heldGoesOn}`;
}

/** Why it was refused, and what to do. */
export function reasonDetail({ reason }: Receipt): string {
  if (isReason(reason)) return `${WHY[reason]} ${ADVICE[reason]}`;
  return reason === undefined ? "" : TEXT.refusedOther(reason);
}

/** Reasons for which the same text would be refused again. */
const HOPELESS: ReadonlySet<string> = new Set(
  ["shell_escape", "approval_change", "invalid_body", "answer_taken"] satisfies Reason[],
);

function isHopeless({ reason }: Receipt): boolean {
  return reason !== undefined && HOPELESS.has(reason);
}

/** The time of the refusal plus its Retry-After. */
function resendFrom({ state, at, retryAfterSeconds }: Receipt): number {
  return retryAfterSeconds === undefined ? 0 : (at[state] ?? 0) + retryAfterSeconds * 1_000;
}

function isReason(reason: string | undefined): reason is Reason {
  return reason !== undefined && Object.hasOwn(REASONS, reason);
}
