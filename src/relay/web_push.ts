/** Rings phones whose page is closed: decides which phones ring for a push, and removes the notifications of a closed question. */
import type { Audience } from "../bus/bus.ts";
import { breather, type Clock, delay } from "../async/clock.ts";
import { errorText } from "../async/error_text.ts";
import { encodeUtf8 } from "../async/encodings.ts";
import { PAGE_MAX_BYTES } from "../protocol/limits.ts";
import { hostOf, type Push } from "../protocol/push.ts";
import { type Receipt, type Shown, SHOWN_PHONES_MAX } from "../protocol/receipt.ts";
import {
  type RingKind,
  ringKindOf,
  rings,
  type WebPushPayload,
  type WebPushSubscription,
  type WebPushTest,
  type WebPushTested,
} from "../protocol/web_push.ts";
import { type PostAnswer, postPublicly, type PublicPost } from "../runtime/public_post.ts";
import { type DeviceName, nameKey, type Store, type StoredPush } from "../store/store.ts";
import { counter, type RelayMetrics } from "./metrics.ts";
import {
  deliver,
  type DeliveryOptions,
  type LaneMessage,
  Lanes,
  loadVapidKeys,
  MESSAGES_PER_PHONE_MAX,
  PAYLOAD_MAX_BYTES,
  postOnce,
  subscriptionFault,
  type VapidKeys,
  type WebPushMessage,
  type WebPushOutcome,
} from "./web_push_delivery.ts";

const WEB_PUSH = counter(
  "svc_web_push_total",
  "Web Push messages by outcome: sent, dead, failed, dropped, and unnecessary because the push was seen or closed.",
);

/** A connected phone has this long to report that the push is on its screen, which makes a notification unnecessary. */
export const IN_VIEW_LIMIT_MS = 1_500;
/** The shortest time that a vendor is asked to keep a message, even if its push expires sooner. */
const TTL_MIN_SECONDS = 60;
const TEST_TTL_SECONDS = 60;

interface WebPushOptions {
  store: Store;
  clock: Clock;
  metrics: RelayMetrics;
  /** True while the phone is connected to this relay, on any node. */
  isConnected(device: DeviceName): Promise<boolean>;
  /** Runs work in the background. */
  run(work: Promise<void>): void;
  /** Sends phones the receipt after it changed. */
  changed(stored: StoredPush): void;
  log(line: string): void;
  /** See `DeliveryOptions`. Undefined as long as the relay knows no address of its operator. */
  contact?: (() => string | undefined) | undefined;
  allowLoopback?: boolean | undefined;
  /** Defaults to the network. */
  post?: ((post: PublicPost) => Promise<PostAnswer>) | undefined;
}

interface Recipient {
  device: DeviceName;
  subscription: WebPushSubscription;
}

export class WebPush {
  readonly #options: WebPushOptions;
  readonly #end = new AbortController();
  readonly #lanes: Lanes;
  /** Phones whose test message is being sent. */
  readonly #testing = new Set<string>();
  #keys: Promise<VapidKeys> | undefined;

  constructor(options: WebPushOptions) {
    this.#options = options;
    const { run } = options;
    this.#lanes = new Lanes({ run, dropped: () => this.#count("dropped") });
  }

  async publicKey(): Promise<string> {
    return (await this.#vapidKeys()).publicKey;
  }

  /** Why a subscription cannot be used; undefined when it can. */
  fault(subscription: WebPushSubscription): { pointer: string; detail: string } | undefined {
    return subscriptionFault(subscription, { allowLoopback: this.#options.allowLoopback ?? false });
  }

  /** Rings the phones that must be notified of the push. */
  ring(stored: StoredPush, to: Audience): void {
    const kind = ringKindOf(stored.push);
    if (kind === undefined || "listener" in to) return;
    const isFor = (id: string): boolean => !("device" in to) || id === to.device;
    this.#options.run(this.#ringAll(stored, { kind, isFor }));
  }

  /** Rings the phones that an open question has not reached. Does nothing for other pushes. */
  remind(stored: StoredPush): void {
    this.#options.run(this.#remind(stored));
  }

  /** After `waitMs`, reminds phones of each account's newest open questions: a restart loses the waiting messages. */
  async resume(waitMs: number): Promise<void> {
    const { store, clock } = this.#options;
    const { signal } = this.#end;
    const newest = {
      before: "end",
      openQuestions: true,
      limit: MESSAGES_PER_PHONE_MAX,
      bytes: PAGE_MAX_BYTES,
    };
    try {
      const upTo = await store.newestPush();
      await delay(waitMs, { clock, signal });
      const breathe = breather(clock);
      for (const account of await store.accountIds()) {
        await breathe();
        signal.throwIfAborted();
        const { pushes = [] } = await store.pagePushes({ account, ...newest }) ?? {};
        // Later ones are rung for by the node that accepted them.
        for (const stored of pushes) if (stored.seq <= upTo) await this.#remind(stored);
      }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }

  /** Removes the notifications of a closed question from every phone except the one that closed it. */
  withdraw({ account, push, receipt }: StoredPush, closedBy?: string): void {
    if (push.type !== "ask" || !receipt.final) return;
    const rung = Object.entries(receipt.shown ?? {}).filter(([, { sent }]) => sent !== undefined);
    const devices = rung.map(([id]) => id).filter((id) => id !== closedBy);
    if (devices.length > 0) this.#options.run(this.#withdrawFrom(devices, { account, push }));
  }

  /**
   * Sends a test message once, and resolves with the vendor's answer. Undefined without a subscription; "busy" while
   * another test of the phone runs, or when its account has too many messages.
   */
  async test(device: DeviceName, test: WebPushTest): Promise<WebPushTested | "busy" | undefined> {
    const key = nameKey(device);
    if (this.#testing.has(key)) return "busy";
    const leave = this.#lanes.enter(device.account);
    if (leave === undefined) return "busy";
    this.#testing.add(key);
    try {
      return await this.#test(device, test);
    } finally {
      this.#testing.delete(key);
      leave();
    }
  }

  async #test(device: DeviceName, { id, sealedFor }: WebPushTest): Promise<WebPushTested | undefined> {
    const { store, clock } = this.#options;
    const subscription = await store.findWebPush(device);
    if (subscription === undefined) return undefined;
    const payload: WebPushPayload = { kind: "test", id, ...(sealedFor === undefined ? {} : { sealedFor }) };
    const message = messageOf(payload, { ttlSeconds: TEST_TTL_SECONDS, urgency: "high", group: id });
    const began = clock.elapsed();
    const outcome = await postOnce({ subscription, message }, await this.#delivery()).catch((error) => ({
      kind: "failed" as const,
      status: error instanceof Error && "status" in error ? Number(error.status) : 0,
      why: errorText(error),
    }));
    await this.#settle({ device, subscription }, outcome);
    const milliseconds = Math.round(clock.elapsed() - began);
    return {
      status: outcome.status,
      milliseconds,
      ...(outcome.kind === "sent" ? {} : { detail: outcome.why }),
    };
  }

  /** Ends waits and requests. */
  stop(): void {
    this.#lanes.stop();
    this.#end.abort(new Stopped());
  }

  async #ringAll(
    stored: StoredPush,
    { kind, isFor }: { kind: RingKind; isFor(phone: string, subscription: WebPushSubscription): boolean },
  ): Promise<void> {
    const { store, clock } = this.#options;
    const { account, push } = stored;
    for (const [id, subscription] of await store.listWebPush(account)) {
      if (id === push.from || !isFor(id, subscription)) continue;
      if (!rings(subscription.preferences, { push, kind, now: clock.now() })) continue;
      const recipient = { device: { account, id }, subscription };
      const send = (): Promise<void> => this.#ringOne(recipient, { push, kind });
      this.#enqueue(recipient, { topic: groupOf(push, kind), send });
    }
  }

  async #remind(stored: StoredPush): Promise<void> {
    const { account, push, receipt: { final, shown = {} } } = stored;
    const kind = ringKindOf(push);
    if (kind !== "ask" || final || push.expiresAt <= this.#options.clock.now()) return;
    // A full receipt does not list every phone that was rung.
    if (Object.keys(shown).length >= SHOWN_PHONES_MAX) return;
    const topic = groupOf(push, kind);
    await this.#ringAll(stored, {
      kind,
      isFor: (id, { preferences }) =>
        !Object.hasOwn(shown, id) && !this.#lanes.has({ account, id }, topic) &&
        rings(preferences, { push, kind, now: push.createdAt }),
    });
  }

  async #ringOne(recipient: Recipient, { push, kind }: { push: Push; kind: RingKind }): Promise<void> {
    const { clock, isConnected } = this.#options;
    const { device, subscription } = recipient;
    const { signal } = this.#end;
    if (await isConnected(device)) await delay(IN_VIEW_LIMIT_MS, { clock, signal });
    const message = messageOf(ringPayload(push, { kind, phone: device.id }), {
      ttlSeconds: Math.max(TTL_MIN_SECONDS, (push.expiresAt - clock.now()) / 1_000),
      urgency: kind === "ask" || kind === "agent.attention" ? "high" : "normal",
      group: groupOf(push, kind),
    });
    const isWanted = async (): Promise<boolean> =>
      await this.#isSubscribed(recipient) && await this.#isWanted(device, push.id);
    const outcome = await deliver({ subscription, message, isWanted }, await this.#delivery());
    if (outcome === undefined) return this.#count("unnecessary");
    await this.#settle(recipient, outcome);
    if (outcome.kind !== "sent") return;
    const now = clock.now();
    const stored = await this.note({ account: device.account, id: push.id }, {
      phone: device.id,
      shown: { sent: now },
    });
    // Answered while the message was being sent.
    if (stored?.receipt.final === true) this.withdraw(only(stored, device.id));
  }

  /** False for a closed question, and for a push that was sent to the phone before or shown on its page. */
  async #isWanted({ account, id }: DeviceName, push: string): Promise<boolean> {
    const stored = await this.#options.store.findPush({ account, id: push });
    if (stored === undefined) return false;
    if (stored.push.type === "ask" && stored.receipt.final) return false;
    const { sent, seen } = stored.receipt.shown?.[id] ?? {};
    return sent === undefined && seen === undefined;
  }

  /**
   * True while the phone has this subscription: a message waits for a busy vendor for minutes, in which the phone may
   * be revoked or subscribe again.
   */
  async #isSubscribed({ device: { account, id }, subscription }: Recipient): Promise<boolean> {
    const subscriptions = await this.#options.store.listWebPush(account);
    return subscriptions.get(id)?.endpoint === subscription.endpoint;
  }

  async #withdrawFrom(
    ids: readonly string[],
    { account, push }: { account: string; push: Push },
  ): Promise<void> {
    const subscriptions = await this.#options.store.listWebPush(account);
    const group = groupOf(push, "ask");
    for (const id of ids) {
      const subscription = subscriptions.get(id);
      if (subscription === undefined) continue;
      const recipient = { device: { account, id }, subscription };
      const payload: WebPushPayload = { kind: "withdraw", ...aboutOf(push, "ask") };
      const message = messageOf(payload, {
        ttlSeconds: Math.max(TTL_MIN_SECONDS, (push.expiresAt - this.#options.clock.now()) / 1_000),
        urgency: "normal",
        group,
      });
      const send = async (): Promise<void> => {
        const isWanted = (): Promise<boolean> => this.#isSubscribed(recipient);
        const outcome = await deliver({ subscription, message, isWanted }, await this.#delivery());
        if (outcome !== undefined) await this.#settle(recipient, outcome);
      };
      this.#enqueue(recipient, { topic: group, send });
    }
  }

  /** Records in the receipt what a phone was shown, the first time of each kind. Undefined when nothing changed. */
  async note(
    push: { account: string; id: string },
    { phone, shown }: { phone: string; shown: Shown },
  ): Promise<StoredPush | undefined> {
    const outcome = await this.#options.store.changeReceipt(
      push,
      ({ receipt }) => withShown(receipt, phone, shown),
    );
    if (outcome?.changed !== true) return undefined;
    this.#options.changed(outcome.stored);
    return outcome.stored;
  }

  #enqueue({ device }: Recipient, { topic, send }: LaneMessage): void {
    const untilStopped = (): Promise<void> =>
      send().catch((error) => {
        if (!(error instanceof Stopped)) throw error;
      });
    this.#lanes.add(device, { topic, send: untilStopped });
  }

  async #settle({ device, subscription }: Recipient, outcome: WebPushOutcome): Promise<void> {
    const { store, log } = this.#options;
    this.#count(outcome.kind);
    if (outcome.kind === "sent") return;
    const removed = outcome.kind === "dead" && await store.removeWebPush(device, subscription.endpoint);
    log(`! web push to ${device.id}: ${outcome.why}${removed ? "; the subscription was removed" : ""}`);
  }

  async #delivery(): Promise<DeliveryOptions> {
    const { clock, contact, allowLoopback = false, post = postPublicly } = this.#options;
    const { signal } = this.#end;
    return { keys: await this.#vapidKeys(), contact: contact?.(), clock, signal, allowLoopback, post };
  }

  async #vapidKeys(): Promise<VapidKeys> {
    this.#keys ??= loadVapidKeys(this.#options.store);
    try {
      return await this.#keys;
    } catch (error) {
      this.#keys = undefined;
      throw error;
    }
  }

  #count(outcome: string): void {
    this.#options.metrics.of(WEB_PUSH).add({ outcome });
  }
}

class Stopped extends Error {
  override readonly name = "Stopped";
}

/** The stored push with the reports of one phone only. */
function only(stored: StoredPush, phone: string): StoredPush {
  const shown = stored.receipt.shown?.[phone];
  return { ...stored, receipt: { ...stored.receipt, shown: shown === undefined ? {} : { [phone]: shown } } };
}

/** The receipt with a phone's report; undefined when the report has nothing new. */
export function withShown(receipt: Receipt, phone: string, shown: Shown): Receipt | undefined {
  const all = receipt.shown ?? {};
  const known = Object.hasOwn(all, phone) ? all[phone] : undefined;
  if (known === undefined && Object.keys(all).length >= SHOWN_PHONES_MAX) return undefined;
  const next = { ...shown, ...known };
  if (known !== undefined && Object.keys(next).length === Object.keys(known).length) return undefined;
  return { ...receipt, shown: { ...all, [phone]: next } };
}

/**
 * The group of a notification, which a withdrawal or a later notification of the group replaces: a question or a note
 * is alone in its group, turns and dialogs of a session share one.
 */
function groupOf(push: Push, kind: RingKind): string {
  const isOwn = kind === "ask" || kind === "note" || push.agentSessionName === undefined;
  return isOwn ? push.id : `${hostOf(push) ?? ""}/${push.agentSessionName}`;
}

function aboutOf(push: Push, type: RingKind): { id: string; type: RingKind; host: string; session?: string } {
  const { id, agentSessionName: session } = push;
  return { id, type, host: hostOf(push) ?? "", ...(session === undefined ? {} : { session }) };
}

/**
 * Contains the sealed text with the key for this phone only. A plain text is left out: without a text the phone shows
 * only the kind.
 */
function ringPayload(push: Push, { kind, phone }: { kind: RingKind; phone: string }): WebPushPayload {
  const payload = { kind: "ring", ...aboutOf(push, kind), createdAt: push.createdAt } as const;
  const { sealedFor } = push;
  const key = sealedFor !== undefined && Object.hasOwn(sealedFor.keys, phone)
    ? sealedFor.keys[phone]
    : undefined;
  if (sealedFor === undefined || key === undefined) return payload;
  const whole = { ...payload, sealedFor: { ...sealedFor, keys: { [phone]: key } } };
  const isShort = encodeUtf8(JSON.stringify(whole)).length <= PAYLOAD_MAX_BYTES;
  return isShort ? whole : { ...payload, load: true };
}

function messageOf(
  payload: WebPushPayload,
  { ttlSeconds, urgency, group }: { ttlSeconds: number; urgency: "normal" | "high"; group: string },
): WebPushMessage {
  return { payload, ttlSeconds, urgency, group };
}
