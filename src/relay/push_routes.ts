/** The HTTP routes of pushes: sending one, reading one with its receipt, and paging through the history. */
import {
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  PAGE_MAX_BYTES,
  STORED_PER_DAY_MAX_BYTES,
} from "../protocol/limits.ts";
import { type PushAccepted, PushId, type PushPage, type PushRecord, PushRequest } from "../protocol/push.ts";
import { afterReads } from "../runtime/sqlite.ts";
import type { KeyRecord, StoredPush } from "../store/store.ts";
import { acceptAnswer, acceptAsk } from "./asks.ts";
import { json, type KeyedCall, overBudget, readBody, Refusal, tooManyRequests } from "./handler.ts";
import { acceptPush, type IncomingPush } from "./pushes.ts";
import type { Services } from "./services.ts";

/** What a push costs in the store besides its own text: receipt, digest and indexes. */
const STORED_OVERHEAD_BYTES = 512;

/** `POST /pushes/send`. */
export async function sendPush(services: Services, call: KeyedCall): Promise<Response> {
  const request = await readBody(call, { schema: PushRequest, code: "invalid_push" });
  const { account, deviceId, id } = call.key;
  chargeStorage(services, { keyId: id, bytes: JSON.stringify(request).length });
  await checkReplyTo(services, { key: call.key, request });
  return json(await accept(services, { account, from: deviceId ?? id, request }), 202);
}

/** Each type of push has its own checks. */
function accept(services: Services, push: IncomingPush): Promise<PushAccepted> {
  switch (push.request.type) {
    case "ask":
      return acceptAsk(services, push);
    case "ask.answer":
      return acceptAnswer(services, push);
    default:
      return acceptPush(services, push);
  }
}

/** Charges the sender for the push, even when the push was sent before. */
function chargeStorage(
  { budgets, clock, metrics }: Services,
  { keyId, bytes }: { keyId: string; bytes: number },
): void {
  const wait = budgets.storedBytes.take(keyId, clock.elapsed(), bytes + STORED_OVERHEAD_BYTES);
  if (wait === 0) return;
  metrics.overBudget.add({ budget: "stored_bytes" });
  throw overBudget(`the key has stored ${STORED_PER_DAY_MAX_BYTES} bytes within a day`, wait);
}

/** A question may name only a device of its sender as the recipient of the answer. */
async function checkReplyTo(
  { store }: Services,
  { key, request }: { key: KeyRecord; request: PushRequest },
): Promise<void> {
  const id = request.type === "ask" ? request.data?.["replyTo"] : undefined;
  if (typeof id !== "string") return;
  const owner = await store.deviceOwner({ account: key.account, id });
  if (owner === undefined || owner === key.id) return;
  const errors = [{ pointer: "/data/replyTo", detail: "a device of the sender's own key" }];
  throw new Refusal("invalid_push", "Cannot accept the question: another key's device would get the answer", {
    errors,
  });
}

/** `GET /pushes/{id}`. */
export async function getPush({ store }: Services, call: KeyedCall): Promise<Response> {
  const stored = await store.findPush({ account: call.key.account, id: call.param("id") });
  if (stored === undefined) {
    throw new Refusal("unknown_push", "Cannot find a push with this id in this account");
  }
  return json(recordOf(stored));
}

/** `GET /pushes?after=&before=&limit=`: the cursor is a push's id. */
export async function listPushes(services: Services, call: KeyedCall): Promise<Response> {
  const { store, historyReads, budgets, clock, metrics } = services;
  const limit = pageLimit(call.query("limit"));
  const after = cursor(call, "after");
  const before = cursor(call, "before");
  if (after !== undefined && before !== undefined) {
    throw new Refusal("invalid_request", "Cannot page in both directions: give either after or before");
  }
  const { id: keyId, account } = call.key;
  const wait = budgets.pageBytes.take(keyId, clock.elapsed(), 0);
  if (wait > 0) {
    metrics.overBudget.add({ budget: "page_bytes" });
    throw tooManyRequests(wait);
  }
  const page = await historyReads.run(async () => {
    // Lets other input be handled between two pages.
    await new Promise<void>((resolve) => afterReads(resolve));
    return await store.pagePushes({ account, after, before, limit, bytes: PAGE_MAX_BYTES });
  });
  if (page === undefined) throw badCursor("names no push of this account");
  budgets.pageBytes.charge(keyId, clock.elapsed(), page.bytes);
  const pushes = page.pushes.map(recordOf);
  const next = before === undefined && page.hasMore ? pushes.at(-1)?.push.id : undefined;
  const answer: PushPage = next === undefined ? { pushes } : { pushes, next };
  return json(answer);
}

const recordOf = ({ push, receipt }: StoredPush): PushRecord => ({ push, receipt });

function pageLimit(text: string | undefined): number {
  if (text === undefined) return PAGE_LIMIT_DEFAULT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
  throw new Refusal(
    "invalid_request",
    `Cannot use the limit: it must be a whole number from 1 to ${PAGE_LIMIT_MAX}`,
  );
}

function cursor(call: KeyedCall, name: "after" | "before"): string | undefined {
  const text = call.query(name);
  if (text === undefined || text === "") return undefined;
  if (PushId.safeParse(text).success || (name === "before" && text === "end")) return text;
  throw badCursor("is not a push id");
}

function badCursor(why: string): Refusal {
  return new Refusal("invalid_request", `Cannot page from the cursor: it ${why}; give the id of a push`);
}
