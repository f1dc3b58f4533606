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
  const { claims } = services;
  if (!claims.withdraw(push)) return;
  let isWithdrawn = false;
  try {
    isWithdrawn = await tryWithdraw(services, { push, incoming });
  } finally {
    if (!isWithdrawn) claims.release(push);
  }
}

async function tryWithdraw(
  services: Services,
  { push, incoming }: { push: PushName; incoming: IncomingPush },
): Promise<boolean> {
  const { store, claims, clock } = services;
  const known = await store.findPush(push) ?? await placeholder(services, { push, incoming });
  if (known === undefined) return true;
  if (known.push.type !== "agent.command") return false;
  const changed = await changeReceipt(services, {
    push,
    decide: (stored) => withdrawnInQueue(stored, { since: claims.since, now: clock.now() }),
  });
  return changed !== undefined;
}

/** A push that an earlier run of the relay stored may have been sent by it. */
function withdrawnInQueue(
  { push, receipt }: StoredPush,
  { since, now }: { since: number; now: number },
): Receipt | undefined {
  return receipt.state === "queued" && push.createdAt >= since ? withdrawnAt(receipt, now) : undefined;
}

/** Takes the id of a message that has not arrived: it may still be on its way. Returns the message if it was faster. */
async function placeholder(
  services: Services,
  { push: { account, id }, incoming: { from, request } }: { push: PushName; incoming: IncomingPush },
): Promise<StoredPush | undefined> {
  const { store, clock } = services;
  const now = clock.now();
  const expiresAt = now + request.ttlSeconds * 1_000;
  const { stored, duplicate } = await store.insertPush({
    account,
    digest: sha256("cancelled"),
    push: { id, type: "agent.cancel", inReplyTo: id, from, createdAt: now, expiresAt },
    receipt: { state: "withdrawn", final: true, at: { withdrawn: now } },
  });
  if (duplicate) return stored;
  publishReceipt(services, stored);
  return undefined;
}
