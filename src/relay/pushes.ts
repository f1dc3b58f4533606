/** Accepts a push: recognizes repetitions, routes, stores and publishes it; and cancels messages. */
import type { Audience } from "../bus/bus.ts";
import { HookId } from "../protocol/http.ts";
import { type Push, type PushAccepted, type PushRequest, rulesOf } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import { equalDigests, sha256 } from "../runtime/digest.ts";
import type { PushName, Store, StoredPush } from "../store/store.ts";
import { Refusal, type Services } from "./handler.ts";
import { publishFrame } from "./hub.ts";
import {
  askedReceipt,
  changeReceipt,
  deliveredReceipt,
  mutedReceipt,
  publishReceipt,
  PUSHES,
  queuedReceipt,
  withdrawnAt,
} from "./receipts.ts";

/** A validated request to send a push; `from` is the sending device or key. */
export interface IncomingPush {
  account: string;
  from: string;
  request: PushRequest;
}

/** Stores the push, then publishes it; the caller answers 202. Sending it twice gives the first answer and delivers it once. */
export async function acceptPush(services: Services, incoming: IncomingPush): Promise<PushAccepted> {
  const { store, clock, metrics } = services;
  const { account } = incoming;
  // A repeated push is not routed again: its first recipient may be gone, but its answer stands.
  const repeated = await repeatedAnswer(services, incoming);
  if (repeated !== undefined) return repeated;
  const request = { ...incoming.request, id: incoming.request.id ?? crypto.randomUUID() };
  const route = await routePush(store, { account, push: request });
  const isMuted = await countHook(services, { account, data: request.data }) === "muted" &&
    !("listener" in route);
  announcePush(services, { account, request, to: route });
  const now = clock.now();
  const target = "listener" in route ? route.listener : undefined;
  const { stored, duplicate } = await store.insertPush({
    account,
    target,
    digest: contentDigest(request),
    push: {
      ...pushOf({ ...incoming, request }, now),
      ...(target === undefined ? {} : { targetDeviceId: target }),
    },
    receipt: isMuted ? mutedReceipt(now) : firstReceipt(request, { target, now }),
  });
  if (duplicate) return firstAnswer(services, { stored, request });
  metrics.of(PUSHES).add({ outcome: "accepted" });
  if (!isMuted) {
    publishPush(services, { stored, to: route });
    services.webPush.ring(stored, route);
  }
  return answerOf(stored);
}

/** Counts the push and returns whether its hook is muted. Refuses a push of a revoked hook. */
async function countHook(
  { store, clock }: Services,
  { account, data }: { account: string; data: unknown },
): Promise<"active" | "muted"> {
  const id = hookIdOf(data);
  if (id === undefined) return "active";
  const state = await store.countHook({ account, id }, clock.now());
  if (state === "revoked") {
    throw new Refusal("hook_revoked", `Cannot accept the push: the hook "${id}" was revoked`);
  }
  return state;
}

function hookIdOf(data: unknown): string | undefined {
  if (typeof data !== "object" || data === null || !("hookId" in data)) return undefined;
  return HookId.safeParse(data.hookId).data;
}

/** The first answer to a push that is already stored. */
export async function repeatedAnswer(
  services: Services,
  { account, request }: IncomingPush,
): Promise<PushAccepted | undefined> {
  if (request.id === undefined) return undefined;
  const stored = await services.store.findPush({ account, id: request.id });
  return stored && firstAnswer(services, { stored, request });
}

/**
 * Gives the first answer again; throws Refusal for different content under the same id. A question that is sent again
 * rings the phones that it has not reached: the relay may have stopped between storing it and ringing.
 */
export function firstAnswer(
  { metrics, webPush }: Services,
  { stored, request }: { stored: StoredPush; request: PushRequest },
): PushAccepted {
  if (!isSameContent(stored, request)) {
    throw new Refusal(
      "id_reused",
      `Cannot accept the push "${stored.push.id}": the id was used with different content; choose a new one`,
    );
  }
  metrics.of(PUSHES).add({ outcome: "repeated" });
  webPush.remind(stored);
  return answerOf(stored);
}

export function answerOf({ push, target, receipt }: StoredPush): PushAccepted {
  const toPhones = receipt.state === "ignored" ? "ignored" : "delivered";
  return { id: push.id, state: target === undefined ? toPhones : "queued", expiresAt: push.expiresAt };
}

export function pushOf({ request, from }: IncomingPush, now: number): Push {
  const { id = crypto.randomUUID(), ttlSeconds, ...fields } = request;
  return { id, ...fields, from, createdAt: now, expiresAt: now + ttlSeconds * 1000 };
}

/** A sender may write `data` in another order the next time: many languages do not order the members of an object. */
function isSameContent({ digest, push }: StoredPush, request: PushRequest): boolean {
  const data = sortedJson(push.data) === sortedJson(request.data) ? push.data : request.data;
  return equalDigests(digest, contentDigest({ ...request, data }));
}

function sortedJson(value: unknown): string | undefined {
  const sorted = (_name: string, member: unknown): unknown =>
    typeof member !== "object" || member === null || Array.isArray(member)
      ? member
      : Object.fromEntries(Object.entries(member).sort(([one], [other]) => one < other ? -1 : 1));
  return JSON.stringify(value, sorted);
}

/** Covers everything that the sender sent except the id. The schema fixes the order of the fields. */
export function contentDigest({ id: _id, ...content }: PushRequest): Uint8Array {
  return sha256(JSON.stringify(content));
}

function firstReceipt(
  { type }: PushRequest,
  { target, now }: { target: string | undefined; now: number },
): Receipt {
  if (target !== undefined) return queuedReceipt(now);
  return type === "ask" ? askedReceipt(now) : deliveredReceipt(now);
}

/**
 * Notifies a listener with nothing else to do of a message that is about to be stored, so that it can check the pane in
 * the meantime.
 */
function announcePush(
  { hub }: Services,
  { account, request, to }: { account: string; request: PushRequest & { id: string }; to: Audience },
): void {
  const { id, type, agentSessionName } = request;
  if (type !== "agent.command" || agentSessionName === undefined || !("listener" in to)) return;
  const connection = hub.listener(account, to.listener);
  if (connection?.outbox?.size === 0) connection.sendFrame("push.soon", { id, agentSessionName });
}

interface Published {
  stored: StoredPush;
  to: Audience;
}

/**
 * Publishes a stored push. A store shared by several nodes notifies the listener itself, in the order of acceptance.
 */
export function publishPush({ bus, store }: Services, { stored, to }: Published): void {
  if ("listener" in to && store.watchPushes !== undefined) return;
  const { account, push, seq } = stored;
  publishFrame(bus, { account, to, event: "push.new", data: push, push: { id: push.id, seq } });
}

/** An account is one channel. */
const BROADCAST = "broadcast";

/** Returns the recipients of a push. Throws Refusal if its device or listener cannot be found. */
export async function routePush(
  store: Store,
  { account, push }: { account: string; push: PushRequest },
): Promise<Audience> {
  const forListener = rulesOf(push.type).isForListener === true;
  if (push.targetDeviceId === undefined) {
    if (forListener) return { listener: await findListener(store, { account, name: push.agentSessionName }) };
    return push.type === BROADCAST ? { everyone: true } : { phones: true };
  }
  const device = await store.findDevice({ account, id: push.targetDeviceId });
  if (device === undefined || device.revokedAt !== undefined) {
    throw unknownDevice(`"${push.targetDeviceId}" is not a device of this account`);
  }
  if (device.kind === "listener") return { listener: device.id };
  if (forListener) throw unknownDevice(`"${device.id}" is a ${device.kind}, not a listener`);
  return { device: device.id };
}

/** Returns the listener that has the session, or else the only listener, which then answers no_such_session. */
async function findListener(
  store: Store,
  { account, name }: { account: string; name: string | undefined },
): Promise<string> {
  const devices = name === undefined ? [] : await store.devicesWithSession(account, name);
  if (devices.length > 1) {
    const detail = `"${name}" is a session of ${devices.join(" and ")}: set targetDeviceId to one of them`;
    throw new Refusal("ambiguous_session", detail);
  }
  const [one, other] = devices.length === 1 ? devices : await listenersOf(store, account);
  if (one === undefined) throw unknownDevice("no listener of this account has ever connected");
  if (other !== undefined) {
    throw unknownDevice(`no listener reports a session "${name ?? ""}": set targetDeviceId to the listener`);
  }
  return one;
}

async function listenersOf(store: Store, account: string): Promise<string[]> {
  const devices = await store.listDevices(account);
  return devices.filter((device) => device.kind === "listener").map((device) => device.id);
}

function unknownDevice(why: string): Refusal {
  return new Refusal("unknown_device", `Cannot find the device that the push is for: ${why}`);
}

/** Accepts a cancellation. The listener always gets it, so that it does not type the message if that still arrives. */
export async function acceptCancel(services: Services, incoming: IncomingPush): Promise<PushAccepted> {
  const repeated = await repeatedAnswer(services, incoming);
  if (repeated !== undefined) return repeated;
  const { account, request } = incoming;
  const { inReplyTo } = request;
  // A cancellation that cannot be routed must not have withdrawn anything.
  await routePush(services.store, { account, push: request });
  if (inReplyTo !== undefined) await withdraw(services, { push: { account, id: inReplyTo }, incoming });
  return await acceptPush(services, incoming);
}

async function withdraw(
  services: Services,
  { push, incoming }: { push: PushName; incoming: IncomingPush },
): Promise<void> {
  const { store, claims } = services;
  let known = await store.findPush(push);
  if (known === undefined) {
    if (await holdPlace(services, { push, incoming })) return;
    known = await store.findPush(push);
  }
  // An outbox skips a push that is withdrawn here, and does not load it again.
  if (known === undefined || withdrawnInQueue(services, known) === undefined) return;
  if (!await (store.holdBack?.(known) ?? claims.withdraw(push))) return;
  const decide = (stored: StoredPush): Receipt | undefined => withdrawnInQueue(services, stored);
  let isWithdrawn = false;
  try {
    isWithdrawn = await changeReceipt(services, { push, decide }) !== undefined;
  } finally {
    if (!isWithdrawn) claims.release(push);
  }
}

/**
 * Returns the receipt of a push that is withdrawn before it is sent; undefined if only its listener can cancel it, as
 * with one that an earlier run of the relay stored and may have sent.
 */
function withdrawnInQueue({ claims, clock }: Services, stored: StoredPush): Receipt | undefined {
  const { push, receipt } = stored;
  const isWaiting = push.type === "agent.command" && receipt.state === "queued" && claims.knows(stored);
  return isWaiting ? withdrawnAt(receipt, clock.now()) : undefined;
}

/**
 * Reserves the id of a message that has not arrived, so that it is refused if it still comes. False if the message was
 * faster.
 */
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
