/** Connects notifications with the page: the browser's effects, the service worker's messages, and what is on the screen. */
import { randomUuid } from "../async/encodings.ts";
import { createWebPushApi, type WebPushApi } from "../client/web_push_api.ts";
import { exportPublicKey } from "../crypto/keys.ts";
import type { SealedForPhones } from "../protocol/push.ts";
import type { PairingStorage } from "./pairing_storage.ts";
import { pushFacts, pushStorage, pushSupport, subscribe } from "./push_subscription.ts";
import { type PushBrowser, Ringing } from "./ringing.ts";
import { Seen } from "./seen.ts";
import type { PhoneState } from "./state.ts";
import type { PhoneStorage } from "./storage.ts";
import type { WorkerMessage } from "./worker/push.ts";

export interface PushPageOptions {
  baseUrl: string;
  storage: PhoneStorage;
  pairing: PairingStorage | undefined;
  state(): PhoneState;
  /** Opens an address of the page, from `#` on. */
  open(hash: string): void;
}

export interface PushPage {
  ringing: Ringing;
  /** For every change of the state or of the page's visibility. */
  changed(): void;
}

const TEST_TEXT = "test";

export function pushPage(options: PushPageOptions): PushPage {
  const relay = async (): Promise<{ api: WebPushApi; deviceId: string } | undefined> => {
    const { apiKey, deviceId } = await options.storage.readAccount() ?? {};
    if (apiKey === undefined || deviceId === undefined) return undefined;
    return { api: createWebPushApi({ baseUrl: options.baseUrl, apiKey }), deviceId };
  };
  const ringing = new Ringing({
    browser: browserOf(window),
    storage: pushStorage(),
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
  const changed = (): void => seen.update(options.state(), document.visibilityState === "visible");
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

function browserOf(window: Window & typeof globalThis): PushBrowser {
  return {
    support: () => pushSupport(pushFacts(window)),
    allow: async () => await Notification.requestPermission() === "granted",
    subscribe: async (key) => await subscribe((await navigator.serviceWorker.ready).pushManager, key),
    unsubscribe: async () => {
      await (await (await registration())?.pushManager.getSubscription())?.unsubscribe();
    },
    isSubscribed: async () => {
      if (Notification.permission !== "granted") return false;
      const manager = (await registration())?.pushManager;
      return (await manager?.getSubscription() ?? null) !== null;
    },
    timeZone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

/** Seals with the secret of the first paired host, as that host does: the worker opens it in the same way. */
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
