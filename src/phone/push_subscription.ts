/** This phone's side of Web Push: whether it can be rung, a subscription for the relay's key, and what it wants to be rung for. */
import { type IDBPDatabase, openDB } from "idb";
import { decodeBase64url, encodeBase64url } from "../async/encodings.ts";
import { RingPreferences, type WebPushSubscription } from "../protocol/web_push.ts";

/** The subscription for this key; one for another key, of an earlier relay, is replaced. Rejects with the browser's reason. */
export async function subscribe(
  manager: Pick<PushManager, "getSubscription" | "subscribe">,
  key: string,
): Promise<WebPushSubscription> {
  const known = await manager.getSubscription();
  if (known !== null && keyOf(known) === key) return formOf(known);
  await known?.unsubscribe();
  const applicationServerKey = decodeBase64url(key);
  if (applicationServerKey === undefined) {
    throw new TypeError("Cannot subscribe: the relay's key is not base64url");
  }
  return formOf(await manager.subscribe({ userVisibleOnly: true, applicationServerKey }));
}

function keyOf({ options }: PushSubscription): string | undefined {
  const key = options?.applicationServerKey;
  return key ? encodeBase64url(new Uint8Array(key)) : undefined;
}

function formOf(subscription: PushSubscription): WebPushSubscription {
  const { endpoint, keys = {} } = subscription.toJSON();
  return { endpoint: endpoint ?? "", keys: { p256dh: keys["p256dh"] ?? "", auth: keys["auth"] ?? "" } };
}

/** In IndexedDB, where the service worker finds it too. */
export interface PushStorage {
  /** Undefined until notifications were switched on. */
  readPreferences(): Promise<RingPreferences | undefined>;
  writePreferences(preferences: RingPreferences): Promise<void>;
  clear(): Promise<void>;
}

const STORE = "preferences";
const KEY = "current";

/** Opens the database when it is first used. */
export function pushStorage(): PushStorage {
  let opened: Promise<IDBPDatabase> | undefined;
  const open = (): Promise<IDBPDatabase> =>
    opened ??= openDB("svc-push", 1, {
      upgrade: (created) => void created.createObjectStore(STORE),
    });
  return {
    readPreferences: async () => RingPreferences.safeParse(await (await open()).get(STORE, KEY)).data,
    writePreferences: async (preferences) => void await (await open()).put(STORE, preferences, KEY),
    clear: async () => await (await open()).clear(STORE),
  };
}

/** Whether this browser can receive notifications, and if not, why. */
export type PushSupport = "ready" | "insecure" | "install" | "unsupported" | "denied";

export interface PushFacts {
  isSecureContext: boolean;
  hasPushManager: boolean;
  permission: NotificationPermission | undefined;
  userAgent: string;
  /** A Mac with touch is an iPad. */
  touchPoints: number;
  /** The page runs as an app from the home screen. */
  isInstalled: boolean;
}

export function pushSupport(facts: PushFacts): PushSupport {
  if (!facts.isSecureContext) return "insecure";
  if (!facts.hasPushManager || facts.permission === undefined) {
    return isApplePhone(facts) && !facts.isInstalled ? "install" : "unsupported";
  }
  return facts.permission === "denied" ? "denied" : "ready";
}

function isApplePhone({ userAgent, touchPoints }: PushFacts): boolean {
  return /iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && touchPoints > 1);
}

export function pushFacts(window: Window & typeof globalThis): PushFacts {
  const { navigator } = window;
  return {
    isSecureContext: window.isSecureContext,
    hasPushManager: "serviceWorker" in navigator && "PushManager" in window,
    permission: "Notification" in window ? Notification.permission : undefined,
    userAgent: navigator.userAgent,
    touchPoints: navigator.maxTouchPoints,
    isInstalled: window.matchMedia("(display-mode: standalone)").matches,
  };
}
