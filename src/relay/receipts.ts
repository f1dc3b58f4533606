/** Receipts: the state of a new push, how acknowledgements change it, and the notification of each change. */
import type { EventData } from "../protocol/frames.ts";
import type { PushState, Receipt } from "../protocol/receipt.ts";
import type { PushName, StoredPush } from "../store/store.ts";
import type { Services } from "./handler.ts";
import { publishFrame } from "./hub.ts";
import { counter, histogram } from "./metrics.ts";

export const PUSHES = counter(
  "svc_pushes_total",
  "Pushes by outcome: accepted, repeated, and each final state.",
);
const DELIVERED = histogram(
  "svc_push_delivered_seconds",
  "From acceptance to the first acknowledgement.",
);
const FINAL = histogram(
  "svc_push_final_seconds",
  "From acceptance to the final state of a listener's push.",
);

export function queuedReceipt(now: number): Receipt {
  return { state: "queued", final: false, at: { queued: now } };
}

/** A push to phones: it is not acknowledged, so it is final once it is stored. */
export function deliveredReceipt(now: number): Receipt {
  return { state: "delivered", final: true, at: { queued: now, delivered: now } };
}

/** A push to phones whose hook is muted: no phone is notified. */
export function mutedReceipt(now: number): Receipt {
  return { state: "ignored", reason: "hook_muted", final: true, at: { queued: now, ignored: now } };
}

/** A question to phones: open until it is answered or withdrawn. */
export function askedReceipt(now: number): Receipt {
  return { ...deliveredReceipt(now), final: false };
}

export type Acknowledgement = Omit<EventData<"push.ack">, "id">;

/** The progress of each state. A receipt never goes back, so a late or repeated acknowledgement changes nothing. */
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

/** The receipt after a listener's acknowledgement, or undefined when nothing changes. */
export function acknowledged(receipt: Receipt, ack: Acknowledgement, now: number): Receipt | undefined {
  if (receipt.final || ORDER[ack.outcome] < ORDER[receipt.state]) return undefined;
  const next = movedTo(receipt, { state: ack.outcome, now, final: isFinal(ack) });
  if (ack.reason !== undefined) next.reason = ack.reason;
  if (ack.retryAfterSeconds !== undefined) next.retryAfterSeconds = ack.retryAfterSeconds;
  if (ack.agentSessionName !== undefined) next.agentSessionName = ack.agentSessionName;
  if (ack.proof !== undefined) next.proof = ack.proof;
  return isSame(receipt, next) ? undefined : next;
}

/** The receipt in a final state that the relay itself sets; undefined when it is already final. */
export function ended(receipt: Receipt, state: "expired" | "unknown", now: number): Receipt | undefined {
  return receipt.final ? undefined : movedTo(receipt, { state, now, final: true });
}

/** The receipt of a withdrawn question or of a cancelled message; undefined when it is already final. */
export function withdrawnAt(receipt: Receipt, now: number): Receipt | undefined {
  return receipt.final
    ? undefined
    : { state: "withdrawn", final: true, at: { withdrawn: now, ...receipt.at }, ...shownOf(receipt) };
}

/** Drops reason, wait and proof, which belong to the previous state. */
function movedTo(receipt: Receipt, to: { state: PushState; now: number; final: boolean }): Receipt {
  return { state: to.state, final: to.final, at: { [to.state]: to.now, ...receipt.at }, ...shownOf(receipt) };
}

/** What phones were shown, which every later receipt keeps. */
export function shownOf({ shown }: Receipt): Pick<Receipt, "shown"> {
  return shown === undefined ? {} : { shown };
}

/** A held push is never final, whatever the listener reports; only `typed` may be either. */
function isFinal({ outcome, final }: Acknowledgement): boolean {
  return outcome === "typed" ? final : ORDER[outcome] === END;
}

function isSame(one: Receipt, other: Receipt): boolean {
  return one.state === other.state && one.final === other.final && one.reason === other.reason &&
    one.retryAfterSeconds === other.retryAfterSeconds && one.proof === other.proof;
}

/** Applies a decision to the current receipt, then notifies phones; undefined when nothing changed. */
export async function changeReceipt(
  services: Services,
  { push, decide }: { push: PushName; decide: (stored: StoredPush) => Receipt | undefined },
): Promise<StoredPush | undefined> {
  const outcome = await services.store.changeReceipt(push, decide);
  if (outcome?.changed !== true) return undefined;
  publishReceipt(services, outcome.stored);
  services.webPush.withdraw(outcome.stored);
  count(services, outcome.stored);
  return outcome.stored;
}

/** Sends the receipt to phones and scripts. */
export function publishReceipt({ bus }: Pick<Services, "bus">, { account, push, receipt }: StoredPush): void {
  publishFrame(bus, { account, to: { phones: true }, event: "push.updated", data: { id: push.id, receipt } });
}

/** Questions are not measured: how long a user takes to answer says nothing about the relay. */
function count({ metrics }: Services, { push, receipt }: StoredPush): void {
  if (push.type === "ask" || push.type === "ask.answer") return;
  const seconds = (at: number): number => Math.max(0, at - push.createdAt) / 1000;
  const { delivered } = receipt.at;
  if (receipt.state === "delivered" && delivered !== undefined) {
    metrics.of(DELIVERED).observe(seconds(delivered));
  }
  if (!receipt.final) return;
  metrics.of(PUSHES).add({ outcome: receipt.state });
  metrics.of(FINAL).observe(seconds(receipt.at[receipt.state] ?? push.createdAt));
}
