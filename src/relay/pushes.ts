/** Pushes over HTTP: stored durably, then answered, then passed on. */
import { encodeFrame } from "../protocol/frames.ts";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PAGE_MAX_BYTES } from "../protocol/limits.ts";
import {
  type Push,
  type PushAccepted,
  PushId,
  type PushPage,
  type PushRecord,
  type PushRequest,
} from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import { equalDigests, sha256 } from "../runtime/digest.ts";
import type { StoredPush } from "../store/store.ts";
import { json, type KeyedCall } from "./call.ts";
import { countHook } from "./hooks.ts";
import { Refusal, tooManyRequests } from "./problems.ts";
import { askedReceipt, deliveredReceipt, mutedReceipt, queuedReceipt } from "./receipt_transition.ts";
import { type Route, routePush } from "./routing.ts";
import type { Services } from "./services.ts";

/** What was sent, and by whom: `from` is the device or the key. */
export interface Sent {
  account: string;
  from: string;
  request: PushRequest;
}

/** The same push twice gets the first answer, and goes out once. */
export async function acceptPush(services: Services, sent: Sent): Promise<PushAccepted> {
  const { store, clock, metrics } = services;
  const { account, request } = sent;
  // Not routed again: where it went then may be gone, and its answer stands.
  const known = await knownAnswer(services, sent);
  if (known !== undefined) return known;
  const route = await routePush(store, { account, push: request });
  const isMuted = await countHook(services, { account, data: request.data }) === "muted" &&
    !("listener" in route);
  const now = clock.now();
  const target = "listener" in route ? route.listener : undefined;
  const { stored, duplicate } = await store.insertPush({
    account,
    target,
    digest: contentDigest(request),
    push: { ...pushOf(sent, now), ...(target === undefined ? {} : { targetDeviceId: target }) },
    receipt: isMuted ? mutedReceipt(now) : firstReceipt(request, { target, now }),
  });
  if (duplicate) return repeated(services, { stored, request });
  metrics.pushes.add({ outcome: "accepted" });
  if (!isMuted) passOn(services, { stored, route });
  return firstAnswer(stored);
}

/** What was answered to a push that is here already. */
export async function knownAnswer(
  services: Services,
  { account, request }: Sent,
): Promise<PushAccepted | undefined> {
  if (request.id === undefined) return undefined;
  const stored = await services.store.findPush({ account, id: request.id });
  return stored && repeated(services, { stored, request });
}

/** The first answer once more; refuses another content. */
export function repeated(
  { metrics }: Services,
  { stored, request }: { stored: StoredPush; request: PushRequest },
): PushAccepted {
  if (!equalDigests(stored.digest, contentDigest(request))) throw idReused(stored.push.id);
  metrics.pushes.add({ outcome: "repeated" });
  return firstAnswer(stored);
}

export function pushOf({ request, from }: Sent, now: number): Push {
  const { id = crypto.randomUUID(), ttlSeconds, ...fields } = request;
  return { id, ...fields, from, createdAt: now, expiresAt: now + ttlSeconds * 1000 };
}

function firstReceipt(
  { type }: PushRequest,
  { target, now }: { target: string | undefined; now: number },
): Receipt {
  if (target !== undefined) return queuedReceipt(now);
  return type === "ask" ? askedReceipt(now) : deliveredReceipt(now);
}

/** Over all that the sender sent, its id apart. The schema gives the fields their order. */
export function contentDigest({ id: _id, ...content }: PushRequest): Uint8Array {
  return sha256(JSON.stringify(content));
}

export function passOn({ bus }: Services, { stored, route }: { stored: StoredPush; route: Route }): void {
  const { account, push, seq } = stored;
  const text = encodeFrame("push.new", push);
  bus.publish(account, { kind: "frame", to: route, text, push: { id: push.id, seq } });
}

export function firstAnswer({ push, target, receipt }: StoredPush): PushAccepted {
  const toPhones = receipt.state === "ignored" ? "ignored" : "delivered";
  return { id: push.id, state: target === undefined ? toPhones : "queued", expiresAt: push.expiresAt };
}

function idReused(id: string): Refusal {
  return new Refusal(
    "id_reused",
    `Cannot take the push "${id}": the id was used for another content; choose a new one`,
  );
}

/** `GET /pushes/{id}`. */
export async function getPush({ store }: Services, call: KeyedCall): Promise<Response> {
  const id = call.param("id");
  const stored = await store.findPush({ account: call.key.account, id });
  if (stored === undefined) {
    throw new Refusal("unknown_push", "Cannot find a push of this id in this account");
  }
  return json(recordOf(stored));
}

/** `GET /pushes?after=&before=&limit=`: the cursor is a push's id. */
export async function listPushes(services: Services, call: KeyedCall): Promise<Response> {
  const { store, pages, budgets, clock, metrics } = services;
  const limit = pageLimit(call.query("limit"));
  const after = cursor(call, "after");
  const before = cursor(call, "before");
  if (after !== undefined && before !== undefined) {
    throw new Refusal("invalid_request", "Cannot page both ways: give one of after and before");
  }
  const { id: keyId, account } = call.key;
  const wait = budgets.pageBytes.take(keyId, clock.elapsed(), 0);
  if (wait > 0) {
    metrics.overBudget.add({ budget: "page_bytes" });
    throw tooManyRequests(wait);
  }
  const page = await pages.take(() =>
    store.pagePushes({ account, after, before, limit, bytes: PAGE_MAX_BYTES })
  );
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
  throw new Refusal("invalid_request", `Cannot take limit: it is a whole number from 1 to ${PAGE_LIMIT_MAX}`);
}

function cursor(call: KeyedCall, name: "after" | "before"): string | undefined {
  const text = call.query(name);
  if (text === undefined || text === "") return undefined;
  if (PushId.safeParse(text).success || (name === "before" && text === "end")) return text;
  throw badCursor("is no push id");
}

function badCursor(why: string): Refusal {
  return new Refusal("invalid_request", `Cannot page from the cursor: it ${why}; give the id of a push`);
}
