/** Sends Web Push messages, one at a time to a phone: encrypted (RFC 8291), signed (RFC 8292), and retried. */
import { encryptNotification, vapidHeaders } from "@block65/webcrypto-web-push";
import type { Clock } from "../async/clock.ts";
import { decodeBase64url, encodeBase64url, encodeUtf8 } from "../async/encodings.ts";
import { errorText } from "../async/error_text.ts";
import { retry } from "../async/retry.ts";
import type { WebPushPayload, WebPushSubscription } from "../protocol/web_push.ts";
import { sha256 } from "../runtime/digest.ts";
import { addressFault, ForbiddenAddress, type PostAnswer, type PublicPost } from "../runtime/public_post.ts";
import { type DeviceName, nameKey, type Store } from "../store/store.ts";

/** Bytes of a message's text: a vendor accepts 4,096 bytes with header and padding (RFC 8030, section 7.2). */
export const PAYLOAD_MAX_BYTES = 3_993;
/** How long the vendor may take to answer. */
const POST_LIMIT_MS = 10_000;
/** Attempts per message. */
const ATTEMPTS_MAX = 6;
/** A message is given up when the vendor asks for a longer wait. */
const RETRY_AFTER_MAX_SECONDS = 600;
const BACKOFF = { minMs: 1_000, maxMs: 60_000 };

/** These answers mean that the subscription no longer works: it was made with another key, or is gone. */
const DEAD: ReadonlySet<number> = new Set([400, 403, 404, 410]);

/** Vendors require an address, and some refuse one that cannot reach anybody with REFUSED_CONTACT. */
const PLACEHOLDER_CONTACT = "mailto:relay@example.com";
const REFUSED_CONTACT = 403;
const CONTACT_HINT =
  "; it may refuse the placeholder contact of this relay: start svc server with --web-push-contact mailto:YOU@YOUR.DOMAIN";

export type WebPushOutcome =
  /** The vendor has the message. */
  | { kind: "sent"; status: number }
  /** The subscription must be removed. */
  | { kind: "dead"; status: number; why: string }
  | { kind: "failed"; status: number; why: string };

export interface WebPushMessage {
  payload: WebPushPayload;
  /** How long the vendor keeps it for a phone that is off. */
  ttlSeconds: number;
  urgency: "normal" | "high";
  /** A later message of the same group replaces one that the phone has not received. */
  group: string;
}

export interface DeliveryOptions {
  keys: VapidKeys;
  /** An address at which the vendor reaches the relay's operator: `mailto:` or `https:`. Undefined: a placeholder. */
  contact: string | undefined;
  clock: Clock;
  signal: AbortSignal;
  allowLoopback: boolean;
  post(post: PublicPost): Promise<PostAnswer>;
}

export interface VapidKeys {
  /** base64url of the uncompressed point. */
  publicKey: string;
  /** base64url of the private number. */
  privateKey: string;
}

/** The relay's key pair: made once, because each subscription is bound to it. */
export async function loadVapidKeys(store: Pick<Store, "keepSecret">): Promise<VapidKeys> {
  return JSON.parse(await store.keepSecret("vapid", JSON.stringify(await makeVapidKeys())));
}

async function makeVapidKeys(): Promise<VapidKeys> {
  const params = { name: "ECDSA", namedCurve: "P-256" };
  const pair = await crypto.subtle.generateKey(params, true, ["sign", "verify"]);
  const [point, { d = "" }] = await Promise.all([
    crypto.subtle.exportKey("raw", pair.publicKey),
    crypto.subtle.exportKey("jwk", pair.privateKey),
  ]);
  return { publicKey: encodeBase64url(new Uint8Array(point)), privateKey: d };
}

/** Why a subscription cannot be used; undefined when it can. */
export function subscriptionFault(
  { endpoint, keys }: WebPushSubscription,
  options: { allowLoopback: boolean },
): { pointer: string; detail: string } | undefined {
  const detail = addressFault(endpoint, options);
  if (detail !== undefined) return { pointer: "/endpoint", detail };
  const point = decodeBase64url(keys.p256dh);
  if (point?.length !== 65 || point[0] !== 4) {
    return { pointer: "/keys/p256dh", detail: "an uncompressed point of P-256 in base64url" };
  }
  return decodeBase64url(keys.auth)?.length === 16
    ? undefined
    : { pointer: "/keys/auth", detail: "16 bytes in base64url" };
}

/**
 * At most 32 characters of base64url (RFC 8030, section 5.4). Nobody can find the group by trying, since the relay's
 * private key is part of the digest.
 */
function topicOf(group: string, { privateKey }: Pick<VapidKeys, "privateKey">): string {
  return encodeBase64url(sha256(`${privateKey}\n${group}`)).slice(0, 32);
}

/**
 * Posts the message until the vendor accepts or refuses it. `isWanted` is called before each attempt; returns undefined
 * when it resolves with false. Throws the signal's reason.
 */
export async function deliver(
  { subscription, message, isWanted }: {
    subscription: WebPushSubscription;
    message: WebPushMessage;
    isWanted(): Promise<boolean>;
  },
  options: DeliveryOptions,
): Promise<WebPushOutcome | undefined> {
  const { clock, signal } = options;
  const end = clock.elapsed() + message.ttlSeconds * 1_000;
  let attempts = 0;
  const attempt = async (): Promise<WebPushOutcome | undefined> => {
    attempts++;
    if (!await isWanted()) return undefined;
    const ttlSeconds = (end - clock.elapsed()) / 1_000;
    return await postOnce({ subscription, message: { ...message, ttlSeconds } }, options);
  };
  const mayRetry = ({ retryAfterSeconds = 0 }: Refused): boolean =>
    attempts < ATTEMPTS_MAX && retryAfterSeconds <= RETRY_AFTER_MAX_SECONDS &&
    clock.elapsed() + retryAfterSeconds * 1_000 < end;
  try {
    return await retry(attempt, {
      isTransient: (error) => error instanceof Refused && mayRetry(error),
      backoff: BACKOFF,
      clock,
      signal,
    });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { kind: "failed", status: error.status, why: error.message };
  }
}

/** The vendor did not accept the message this time. */
class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(why: string, { status = 0, retryAfterSeconds }: Partial<PostAnswer> = {}) {
    super(why);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Posts the message once. Throws Refused after a transient failure. */
export async function postOnce(
  { subscription, message }: { subscription: WebPushSubscription; message: WebPushMessage },
  options: DeliveryOptions,
): Promise<WebPushOutcome> {
  const { contact, signal, allowLoopback, post } = options;
  const { endpoint } = subscription;
  const request = await encrypted(subscription, message, options);
  const late = AbortSignal.timeout(POST_LIMIT_MS);
  const limit = AbortSignal.any([signal, late]);
  const { host } = new URL(endpoint);
  const answer = await post({ url: endpoint, ...request, signal: limit, allowLoopback }).catch((error) => {
    if (signal.aborted) throw signal.reason;
    if (error instanceof ForbiddenAddress) return error;
    throw new Refused(
      late.aborted ? `${host} did not answer in ${POST_LIMIT_MS / 1_000} s` : errorText(error),
    );
  });
  if (answer instanceof ForbiddenAddress) return { kind: "dead", status: 0, why: answer.message };
  const { status } = answer;
  const why = `${host} answered ${status}`;
  if (status >= 200 && status < 300) return { kind: "sent", status };
  if (contact === undefined && status === REFUSED_CONTACT) {
    return { kind: "failed", status, why: `${why}${CONTACT_HINT}` };
  }
  if (DEAD.has(status)) return { kind: "dead", status, why };
  if (status === 429 || status >= 500) throw new Refused(why, answer);
  return { kind: "failed", status, why };
}

async function encrypted(
  subscription: WebPushSubscription,
  { payload, ttlSeconds, urgency, group }: WebPushMessage,
  { keys, contact }: DeliveryOptions,
): Promise<{ headers: Record<string, string>; body: Uint8Array }> {
  // The library signs for https only; a test's endpoint on this machine gets the token of the same host.
  const endpoint = subscription.endpoint.replace(/^http:/, "https:");
  const recipient = { endpoint, expirationTime: null, keys: subscription.keys };
  const [{ headers }, body] = await Promise.all([
    vapidHeaders(recipient, { subject: contact ?? PLACEHOLDER_CONTACT, ...keys }),
    encryptNotification(recipient, encodeUtf8(JSON.stringify(payload))),
  ]);
  return {
    headers: {
      ...headers,
      ttl: String(Math.max(0, Math.floor(ttlSeconds))),
      urgency,
      topic: topicOf(group, keys),
      "content-encoding": "aes128gcm",
      "content-type": "application/octet-stream",
    },
    body,
  };
}

/** Messages of all accounts that wait or are being sent; more are dropped. */
export const MESSAGES_MAX = 1_000;
/** Messages of one account. */
export const MESSAGES_PER_ACCOUNT_MAX = 100;
/** Messages that wait for one phone behind the one that is being sent, which a busy vendor may hold up for an hour. */
export const MESSAGES_PER_PHONE_MAX = 10;

export interface LaneMessage {
  /** A later message with the same topic may replace it. */
  topic: string;
  send(): Promise<void>;
}

interface LanesOptions {
  /** Runs work in the background. */
  run(work: Promise<void>): void;
  /** Called when a message is dropped because there are too many. */
  dropped(): void;
}

interface Counted extends LaneMessage {
  /** Stops counting it. */
  leave(): void;
}

interface Lane {
  /** The topic of the message that is being sent. */
  sending: string;
  /** In order, so that a withdrawal follows its notification. */
  waiting: Counted[];
}

/** Queues of messages: one is sent at a time to each phone, and those of a phone, an account and the relay are limited. */
export class Lanes {
  readonly #options: LanesOptions;
  /** The lanes of phones to which a message is being sent. */
  readonly #lanes = new Map<string, Lane>();
  readonly #ofAccount = new Map<string, number>();
  #messages = 0;
  #ended = false;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** Sends the message after those that wait for the phone; if too many wait, one of them is dropped. */
  add(device: DeviceName, message: LaneMessage): void {
    if (this.#ended) return;
    const key = nameKey(device);
    const lane = this.#lanes.get(key);
    if (lane !== undefined && lane.waiting.length >= MESSAGES_PER_PHONE_MAX) this.#makeRoom(lane, message);
    const leave = this.enter(device.account);
    if (leave === undefined) return;
    if (lane === undefined) this.#send({ key, waiting: [] }, { ...message, leave });
    else lane.waiting.push({ ...message, leave });
  }

  /** True while a message of this topic waits or is being sent. */
  has(device: DeviceName, topic: string): boolean {
    const lane = this.#lanes.get(nameKey(device));
    return lane?.sending === topic || lane?.waiting.some((one) => one.topic === topic) === true;
  }

  /** Counts a message until the result is called. Undefined if there are too many. */
  enter(account: string): (() => void) | undefined {
    const ofAccount = this.#ofAccount.get(account) ?? 0;
    if (this.#messages >= MESSAGES_MAX || ofAccount >= MESSAGES_PER_ACCOUNT_MAX) {
      this.#options.dropped();
      return undefined;
    }
    this.#messages++;
    this.#ofAccount.set(account, ofAccount + 1);
    return () => {
      this.#messages--;
      const left = (this.#ofAccount.get(account) ?? 1) - 1;
      if (left === 0) this.#ofAccount.delete(account);
      else this.#ofAccount.set(account, left);
    };
  }

  /** Drops the waiting messages; nothing more is sent. */
  stop(): void {
    this.#ended = true;
    for (const { waiting } of this.#lanes.values()) waiting.length = 0;
  }

  /** Drops a waiting message: one of the same topic, which the new one replaces, or else the oldest. */
  #makeRoom({ waiting }: Lane, { topic }: LaneMessage): void {
    const same = waiting.findIndex((one) => one.topic === topic);
    const [dropped] = waiting.splice(Math.max(0, same), 1);
    dropped?.leave();
    this.#options.dropped();
  }

  #send({ key, waiting }: { key: string; waiting: Counted[] }, { topic, send, leave }: Counted): void {
    this.#lanes.set(key, { sending: topic, waiting });
    const sent = send().finally(() => {
      leave();
      const next = waiting.shift();
      if (next === undefined) this.#lanes.delete(key);
      else this.#send({ key, waiting }, next);
    });
    this.#options.run(sent);
  }
}
