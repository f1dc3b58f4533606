/** `POST /pushes/send`: every push comes in here, and goes the way of its type. */
import { type PushAccepted, PushRequest } from "../protocol/push.ts";
import { acceptAnswer, acceptAsk } from "./asks.ts";
import { json, type KeyedCall, readBody } from "./call.ts";
import { acceptPush, type Sent } from "./pushes.ts";
import { overBudget, Refusal } from "./problems.ts";
import type { Services } from "./services.ts";
import { STORED_PER_DAY_MAX_BYTES } from "../protocol/limits.ts";
import type { KeyRecord } from "../store/store.ts";

/** What a push costs the store beside its own text: receipt, digest and indexes. */
const STORED_OVERHEAD_BYTES = 512;

export async function sendPush(services: Services, call: KeyedCall): Promise<Response> {
  const request = await readBody(call, { schema: PushRequest, code: "invalid_push" });
  const { account, deviceId, id } = call.key;
  spend(services, { keyId: id, bytes: JSON.stringify(request).length });
  await checkReplyTo(services, { key: call.key, request });
  return json(await accept(services, { account, from: deviceId ?? id, request }), 202);
}

/** What a push takes in the store counts for its sender, whether or not it was sent before. */
function spend(
  { budgets, clock, metrics }: Services,
  { keyId, bytes }: { keyId: string; bytes: number },
): void {
  const wait = budgets.storedBytes.take(keyId, clock.elapsed(), bytes + STORED_OVERHEAD_BYTES);
  if (wait === 0) return;
  metrics.overBudget.add({ budget: "stored_bytes" });
  throw overBudget(`the key has stored ${STORED_PER_DAY_MAX_BYTES} bytes in a day`, wait);
}

/** The answers go to the device that the question names: to its owner alone. */
async function checkReplyTo(
  { store }: Services,
  { key, request }: { key: KeyRecord; request: PushRequest },
): Promise<void> {
  const id = request.type === "ask" ? request.data?.["replyTo"] : undefined;
  if (typeof id !== "string") return;
  const owner = await store.deviceOwner({ account: key.account, id });
  if (owner === undefined || owner === key.id) return;
  const errors = [{ pointer: "/data/replyTo", detail: "a device of the sender's own key" }];
  throw new Refusal("invalid_push", "Cannot take the question: another key's device would get its answer", {
    errors,
  });
}

function accept(services: Services, sent: Sent): Promise<PushAccepted> {
  switch (sent.request.type) {
    case "ask":
      return acceptAsk(services, sent);
    case "ask.answer":
      return acceptAnswer(services, sent);
    default:
      return acceptPush(services, sent);
  }
}
