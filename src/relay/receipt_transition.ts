/** How a listener's acknowledgement changes a receipt: a pure decision, idempotent, that never leaves an end. */
import type { EventData } from "../protocol/frames.ts";
import type { PushState, Receipt } from "../protocol/receipt.ts";

export type Acknowledgement = Omit<EventData<"push.ack">, "id">;

/** How far along the way each state is. A receipt never goes back, so a late or repeated word changes nothing. */
const ORDER: Record<PushState, number> = {
  queued: 0,
  delivered: 1,
  held: 2,
  typed: 3,
  submitted: 4,
  refused: 4,
  expired: 4,
  unknown: 4,
  ignored: 4,
  answered: 4,
  withdrawn: 4,
};
const END = 4;

export function queuedReceipt(now: number): Receipt {
  return { state: "queued", final: false, at: { queued: now } };
}

/** A push to phones: nobody acknowledges it, so it is at its end once it is stored. */
export function deliveredReceipt(now: number): Receipt {
  return { state: "delivered", final: true, at: { queued: now, delivered: now } };
}

/** A push to phones whose hook is muted: nobody is told. */
export function mutedReceipt(now: number): Receipt {
  return { state: "ignored", reason: "hook_muted", final: true, at: { queued: now, ignored: now } };
}

/** A question to phones: open until it is answered or withdrawn. */
export function askedReceipt(now: number): Receipt {
  return { ...deliveredReceipt(now), final: false };
}

/** The receipt after the acknowledgement, or undefined when it says nothing new. */
export function acknowledged(receipt: Receipt, ack: Acknowledgement, now: number): Receipt | undefined {
  if (receipt.final || ORDER[ack.outcome] < ORDER[receipt.state]) return undefined;
  const next = moved(receipt, { state: ack.outcome, now, final: isFinal(ack) });
  if (ack.reason !== undefined) next.reason = ack.reason;
  if (ack.retryAfterSeconds !== undefined) next.retryAfterSeconds = ack.retryAfterSeconds;
  if (ack.agentSessionName !== undefined) next.agentSessionName = ack.agentSessionName;
  if (ack.proof !== undefined) next.proof = ack.proof;
  return saysTheSame(receipt, next) ? undefined : next;
}

/** The receipt at an end that the relay itself sees. */
export function ended(receipt: Receipt, state: "expired" | "unknown", now: number): Receipt | undefined {
  return receipt.final ? undefined : moved(receipt, { state, now, final: true });
}

/** Reason, wait and proof belong to the state they came with. */
function moved(receipt: Receipt, to: { state: PushState; now: number; final: boolean }): Receipt {
  return { state: to.state, final: to.final, at: { [to.state]: to.now, ...receipt.at } };
}

/** A push that a listener only holds is not at an end, whatever it says; only `typed` may be either. */
function isFinal({ outcome, final }: Acknowledgement): boolean {
  return outcome === "typed" ? final : ORDER[outcome] === END;
}

function saysTheSame(one: Receipt, other: Receipt): boolean {
  return one.state === other.state && one.final === other.final && one.reason === other.reason &&
    one.retryAfterSeconds === other.retryAfterSeconds && one.proof === other.proof;
}
