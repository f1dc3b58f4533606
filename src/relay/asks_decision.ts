/** Where an answer goes: to the asker that still waits, into the session as a message, or nowhere. */
import { askDeadline, type StoredAskData, storedAskDataOf } from "../protocol/ask.ts";
import { ASK_RETURN_MS } from "../protocol/limits.ts";
import type { Push } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { DeviceRecord, StoredPush } from "../store/store.ts";

/** A stored question. */
export interface Question {
  push: Push;
  data: StoredAskData;
  receipt: Receipt;
}

/** Undefined for a push that is no question. */
export function questionOf({ push, receipt }: Pick<StoredPush, "push" | "receipt">): Question | undefined {
  const data = storedAskDataOf(push);
  return data && { push, receipt, data };
}

export type AnswerRoute =
  | { to: "asker"; device: string }
  | { to: "session" }
  | { to: "nobody"; why: "answered" | "withdrawn" | "expired" | "no_session" };

/** `asker` is the device that the question names. One that lost its connection a moment ago still counts as there. */
export function routeAnswer(
  { push, data, receipt }: Question,
  { asker, now }: { asker: DeviceRecord | undefined; now: number },
): AnswerRoute {
  if (receipt.state === "answered" || receipt.state === "withdrawn") {
    return { to: "nobody", why: receipt.state };
  }
  if (receipt.final || now >= push.expiresAt) return { to: "nobody", why: "expired" };
  const isInTime = now < askDeadline(push.createdAt, data);
  if (isInTime && asker !== undefined && isThere(asker, now)) return { to: "asker", device: asker.id };
  return push.agentSessionName === undefined ? { to: "nobody", why: "no_session" } : { to: "session" };
}

function isThere({ kind, online, lastSeen, revokedAt }: DeviceRecord, now: number): boolean {
  return kind === "script" && revokedAt === undefined && (online || now - lastSeen < ASK_RETURN_MS);
}

/** The question's receipt once this push answered it; undefined when it is closed already. */
export function answeredBy(receipt: Receipt, answer: { id: string; now: number }): Receipt | undefined {
  if (receipt.final) return undefined;
  return { state: "answered", final: true, at: { answered: answer.now, ...receipt.at }, answer: answer.id };
}

/** The question's receipt once its asker took it back; undefined when it is closed already. */
export function withdrawnAt(receipt: Receipt, now: number): Receipt | undefined {
  return receipt.final
    ? undefined
    : { state: "withdrawn", final: true, at: { withdrawn: now, ...receipt.at } };
}
