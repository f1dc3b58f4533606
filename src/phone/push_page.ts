/** Connects the page with notifications, the service worker and the browser's other pages. */
import { type Clock, systemClock } from "../async/clock.ts";
import { randomUuid } from "../async/encodings.ts";
import { createWebPushApi, type WebPushApi } from "../client/web_push_api.ts";
import { exportPublicKey } from "../crypto/keys.ts";
import { hostOf, type SealedForPhones } from "../protocol/push.ts";
import type { ShownReport } from "../protocol/web_push.ts";
import { sessionIn } from "./attention.ts";
import { registerWorker } from "./browser.ts";
import type { InboxItem } from "./inbox.ts";
import { currentLanguage } from "./language.ts";
import { NOTIFICATION_TEXT } from "./notification_text.ts";
import { followSent, type OtherPagesOptions } from "./other_pages.ts";
import type { PairingStorage } from "./pairing_storage.ts";
import { type PushBrowser, pushFacts, pushStorage, pushSupport, Ringing, subscribe } from "./ringing.ts";
import type { Route } from "./route.ts";
import type { PhoneState } from "./state.ts";
import type { PhoneStorage } from "./storage.ts";
import type { NotificationData, WorkerMessage } from "./worker/push.ts";

export interface PushPageOptions extends OtherPagesOptions {
  baseUrl: string;
  storage: PhoneStorage;
  pairing: PairingStorage | undefined;
  /** Opens an address of the page, from `#` on. */
  open(hash: string): void;
}

export interface PushPage {
  ringing: Ringing;
  /** Call this after every change of the state or of the page's visibility. */
  changed(): void;
}

const TEST_TEXT = "test";

export function pushPage(options: PushPageOptions): PushPage {
  const relay = async (): Promise<{ api: WebPushApi; deviceId: string } | undefined> => {
    const { apiKey, deviceId } = await options.storage.readAccount() ?? {};
    if (apiKey === undefined || deviceId === undefined) return undefined;
    return { api: createWebPushApi({ baseUrl: options.baseUrl, apiKey }), deviceId };
  };
  const storage = pushStorage();
  // The worker cannot read what the page has in its local storage.
  void storage.writeLanguage(currentLanguage()).catch(() => undefined);
  const ringing = new Ringing({
    browser: browserOf(window),
    storage,
    relay,
    seal: (id) => sealForSelf(id, options.pairing),
    newId: randomUuid,
    now: () => Date.now(),
  });
  const seen = new Seen({
    report: async (push, how) => {
      const found = await relay();
      await found?.api.reportShown(push, { deviceId: found.deviceId, how });
    },
    notifications: async () => await (await registration())?.getNotifications() ?? [],
    now: () => Date.now(),
  });
  const shareSent = followSent(options);
  const changed = (): void => {
    seen.update(options.store.get(), document.visibilityState === "visible");
    shareSent();
  };
  // Undefined on pages that are not secure, which the type does not say.
  const container: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  container?.addEventListener("message", ({ data }) => {
    const message = data as WorkerMessage;
    if (message.kind === "svc-open") options.open(message.hash);
    if (message.kind === "svc-tested") ringing.tested(message);
  });
  document.addEventListener("visibilitychange", changed);
  return { ringing, changed };
}

async function registration(): Promise<ServiceWorkerRegistration | undefined> {
  const container: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  return await container?.getRegistration();
}

/** A worker that takes longer to load and install counts as failed. */
const WORKER_LIMIT_MS = 10_000;

/** Resolves to the worker that receives pushes, registering it again if that failed. Rejects if it cannot be loaded. */
export async function readyWorker(
  container: Pick<ServiceWorkerContainer, "getRegistration" | "ready">,
  { register = registerWorker, clock = systemClock }: {
    register?: () => Promise<unknown>;
    clock?: Pick<Clock, "after">;
  } = {},
): Promise<ServiceWorkerRegistration> {
  const failed = (): Error => new Error(NOTIFICATION_TEXT.notifications.noWorker);
  const ready = async (): Promise<ServiceWorkerRegistration> => {
    const known = await container.getRegistration() ?? await register();
    if (known === undefined) throw failed();
    return await container.ready;
  };
  let cancel = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(WORKER_LIMIT_MS, () => reject(failed()));
  });
  return await Promise.race([ready(), late]).finally(cancel);
}

function browserOf(window: Window & typeof globalThis): PushBrowser {
  return {
    support: () => pushSupport(pushFacts(window)),
    allow: async () => await Notification.requestPermission() === "granted",
    subscribe: async (key) => await subscribe((await readyWorker(navigator.serviceWorker)).pushManager, key),
    unsubscribe: async () => {
      await (await (await registration())?.pushManager.getSubscription())?.unsubscribe();
    },
    isSubscribed: async () => {
      if (Notification.permission !== "granted") return false;
      const manager = (await registration())?.pushManager;
      return (await manager?.getSubscription() ?? null) !== null;
    },
    closeAll: async () => {
      for (const shown of await (await registration())?.getNotifications() ?? []) shown.close();
    },
    timeZone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

/** Seals a test push with the secret of the first paired host, as that host does, so that the worker can open it. */
async function sealForSelf(
  id: string,
  pairing: PairingStorage | undefined,
): Promise<SealedForPhones | undefined> {
  const [host] = await pairing?.readHosts() ?? [];
  if (pairing === undefined || host === undefined) return undefined;
  const publicKey = await exportPublicKey((await pairing.ownKeys()).publicKey);
  const phone = { deviceId: host.phone, publicKey, secret: host.secret };
  const push = { id, type: "note", body: TEST_TEXT };
  const { sealHostPush } = await import("../crypto/host_push.ts");
  return (await sealHostPush(push, { host: host.deviceId, phones: [phone] })).sealedFor;
}

/** An older push has rung already, or never will. An open question is reported at any age. */
const FRESH_MS = 60_000;
/** At most this many reported ids are kept. */
const REPORTED_MAX = 1_000;

interface SeenOptions {
  report(push: string, how: ShownReport["how"]): Promise<void>;
  /** The notifications that the system shows for this page. */
  notifications(): Promise<readonly Pick<Notification, "data" | "close">[]>;
  /** Epoch milliseconds by this phone's clock. */
  now(): number;
}

/**
 * Reports which pushes are on the screen, so that they ring no phone that shows them, and closes their notifications.
 */
export class Seen {
  readonly #options: SeenOptions;
  readonly #reported = new Set<string>();
  #last: { inbox: PhoneState["inbox"]; route: Route; visible: boolean } | undefined;

  constructor(options: SeenOptions) {
    this.#options = options;
  }

  /** Call this after every change of the state; most changes have no effect here. */
  update({ inbox, route, clockOffsetMs, signIn }: PhoneState, visible: boolean): void {
    const last = this.#last;
    if (signIn.kind !== "in") return;
    if (last?.inbox === inbox && last.route === route && last.visible === visible) return;
    this.#last = { inbox, route, visible };
    const now = this.#options.now() + clockOffsetMs;
    const seen = visible ? [...inbox.values()].filter((item) => isInView(item, route)) : [];
    for (const item of seen) if (isFresh(item, now)) this.#report(item.push.id);
    const done = [...inbox.values()].filter((item) => item.kind === "question" && item.receipt.final);
    void this.#close(new Set([...seen, ...done].map(({ push }) => push.id)));
  }

  #report(id: string): void {
    if (this.#reported.has(id)) return;
    if (this.#reported.size >= REPORTED_MAX) this.#reported.clear();
    this.#reported.add(id);
    // Without the report the phone rings once more than necessary.
    this.#options.report(id, "page").catch(() => this.#reported.delete(id));
  }

  async #close(ids: ReadonlySet<string>): Promise<void> {
    if (ids.size === 0) return;
    for (const notification of await this.#options.notifications()) {
      const data = notification.data as Partial<NotificationData> | null;
      if (data?.id !== undefined && ids.has(data.id)) notification.close();
    }
  }
}

function isFresh({ kind, push, receipt }: InboxItem, now: number): boolean {
  return kind === "question" ? !receipt.final : now - push.createdAt < FRESH_MS;
}

/** The inbox shows every item, a session view only its own. */
function isInView({ push }: InboxItem, route: Route): boolean {
  if (route.view === "inbox") return true;
  if (route.view !== "session" || sessionIn(push) !== route.session) return false;
  const host = hostOf(push);
  return host === undefined || host === route.deviceId;
}
