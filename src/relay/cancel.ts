/** Cancels a message: at once if it was never sent to its listener, else the listener decides. */
import type { PushAccepted } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import { sha256 } from "../runtime/digest.ts";
import type { PushName, StoredPush } from "../store/store.ts";
import { acceptPush, type IncomingPush, repeatedAnswer } from "./pushes.ts";
import { changeReceipt, publishReceipt, withdrawnAt } from "./receipts.ts";
import type { Services } from "./services.ts";

/** The listener always gets the cancellation, so that it does not type the message if it still arrives. */
export async function acceptCancel(services: Services, incoming: IncomingPush): Promise<PushAccepted> {
  const repeated = await repeatedAnswer(services, incoming);
  if (repeated !== undefined) return repeated;
  const { account, request: { inReplyTo } } = incoming;
  if (inReplyTo !== undefined) await withdraw(services, { push: { account, id: inReplyTo }, incoming });
  return await acceptPush(services, incoming);
}

async function withdraw(
  services: Services,
  { push, incoming }: { push: PushName; incoming: IncomingPush },
): Promise<void> {
  const { store, claims } = services;
  const known = await store.findPush(push);
  // An outbox passes over what is claimed here, and does not come back to it.
  if (known !== undefined && withdrawnInQueue(services, known) === undefined) return;
  if (!claims.withdraw(push)) return;
  let isWithdrawn = false;
  try {
    isWithdrawn = await tryWithdraw(services, { push, incoming, isKnown: known !== undefined });
  } finally {
    if (!isWithdrawn) claims.release(push);
  }
}

async function tryWithdraw(
  services: Services,
  { push, incoming, isKnown }: { push: PushName; incoming: IncomingPush; isKnown: boolean },
): Promise<boolean> {
  if (!isKnown && await holdPlace(services, { push, incoming })) return true;
  const decide = (stored: StoredPush): Receipt | undefined => withdrawnInQueue(services, stored);
  return await changeReceipt(services, { push, decide }) !== undefined;
}

/** Undefined for what only its listener can cancel. A push that an earlier run of the relay stored may have been sent by it. */
function withdrawnInQueue({ claims, clock }: Services, { push, receipt }: StoredPush): Receipt | undefined {
  const isWaiting = push.type === "agent.command" && receipt.state === "queued" &&
    push.createdAt >= claims.since;
  return isWaiting ? withdrawnAt(receipt, clock.now()) : undefined;
}

/** Takes the id of a message that has not arrived: it may still come. False if the message was faster. */
async function holdPlace(
  services: Services,
  { push: { account, id }, incoming: { from, request } }: { push: PushName; incoming: IncomingPush },
): Promise<boolean> {
  const { store, clock } = services;
  const now = clock.now();
  const expiresAt = now + request.ttlSeconds * 1_000;
  const { stored, duplicate } = await store.insertPush({
    account,
    digest: sha256("cancelled"),
    push: { id, type: "agent.cancel", inReplyTo: id, from, createdAt: now, expiresAt },
    receipt: { state: "withdrawn", final: true, at: { withdrawn: now } },
  });
  if (duplicate) return false;
  publishReceipt(services, stored);
  return true;
}
