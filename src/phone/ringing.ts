/** Notifications on this phone: support, switching them on and off, what rings, the test, and the subscription. */
import { decodeBase64url, encodeBase64url } from "../async/encodings.ts";
import { errorText } from "../async/error_text.ts";
import { RelayError } from "../client/relay_error.ts";
import type { WebPushApi } from "../client/web_push_api.ts";
import type { SealedForPhones } from "../protocol/push.ts";
import {
  RING_KINDS,
  type RingKind,
  RingPreferences,
  type WebPushSubscription,
} from "../protocol/web_push.ts";
import { openAny, reopening } from "./database.ts";
import type { NOTIFICATION_STRINGS } from "./strings_notifications.ts";
import type { WorkerMessage } from "./worker/push.ts";

/** How a test went; times in milliseconds from the tap. */
export interface TestRun {
  id: string;
  startedAt: number;
  relay?: { milliseconds: number } | { problem: string };
  vendor?: { milliseconds: number } | { problem: string };
  phone?: { opened: number; shown: number; sealed: boolean };
}

export interface RingingState {
  support: PushSupport;
  isOn: boolean;
  busy: boolean;
  preferences: RingPreferences;
  problem?: string | undefined;
  test?: TestRun | undefined;
}

/** The browser's effects. */
export interface PushBrowser {
  support(): PushSupport;
  /** Asks the user for permission; browsers only allow that after a tap. */
  allow(): Promise<boolean>;
  /** Rejects with the browser's reason. */
  subscribe(key: string): Promise<WebPushSubscription>;
  unsubscribe(): Promise<void>;
  isSubscribed(): Promise<boolean>;
  /** Closes the notifications that are shown. */
  closeAll(): Promise<void>;
  timeZone(): string;
}

interface RingingOptions {
  browser: PushBrowser;
  storage: Omit<PushStorage, "readLanguage" | "writeLanguage">;
  /** Undefined while signed out, or before the phone has a device id. */
  relay(): Promise<{ api: WebPushApi; deviceId: string } | undefined>;
  /** Seals a text as a host would for this phone; resolves to undefined if it is paired with none. */
  seal(id: string): Promise<SealedForPhones | undefined>;
  newId(): string;
  now(): number;
}

const EVERYTHING: RingPreferences = { off: [], sessions: {} };
/** A push service's answers for a subscription that has ended. */
const GONE: readonly number[] = [404, 410];

const NIGHT = { from: "22:00", to: "07:00" };

export class Ringing {
  readonly #options: RingingOptions;
  readonly #listeners = new Set<(state: RingingState) => void>();
  #state: RingingState;
  /** The last of the pending changes. */
  #saving: Promise<void> = Promise.resolve();

  constructor(options: RingingOptions) {
    this.#options = options;
    this.#state = { support: options.browser.support(), isOn: false, busy: false, preferences: EVERYTHING };
  }

  get state(): RingingState {
    return this.#state;
  }

  /** Calls `listener` after every change. Returns a function that ends this. */
  watch(listener: (state: RingingState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads whether notifications are on, and stores the subscription again: the relay may have lost it. */
  async load(): Promise<void> {
    const { browser, storage } = this.#options;
    const preferences = await storage.readPreferences();
    this.#change({ support: browser.support(), preferences: preferences ?? EVERYTHING });
    if (preferences === undefined || this.#state.support !== "ready") return;
    if (!await browser.isSubscribed()) return;
    this.#change({ isOn: true });
    await this.#inTurn(() => this.#save(preferences));
  }

  /** Asks for permission and subscribes. Must be called from a tap. */
  async switchOn(): Promise<void> {
    const { browser, storage } = this.#options;
    this.#change({ busy: true, problem: undefined });
    const isAllowed = await browser.allow();
    this.#change({ support: browser.support() });
    if (isAllowed) {
      await this.#inTurn(async () => {
        const { preferences } = this.#state;
        const problem = await this.#subscribe(preferences);
        if (problem === undefined) await storage.writePreferences(preferences);
        this.#change({ isOn: problem === undefined, problem });
      });
    }
    this.#change({ busy: false });
  }

  /** Call this before the phone leaves its account. */
  async leave(): Promise<void> {
    const { browser, storage } = this.#options;
    await browser.closeAll().catch(() => undefined);
    if (await storage.readPreferences() !== undefined) await this.switchOff();
  }

  async switchOff(): Promise<void> {
    const { browser, storage, relay } = this.#options;
    this.#change({ busy: true, problem: undefined, test: undefined });
    await this.#inTurn(async () => {
      const found = await relay();
      await storage.clear();
      await browser.unsubscribe().catch(() => undefined);
      // The push service refuses the relay's next message if this fails, which removes the subscription.
      await found?.api.removeWebPush(found.deviceId).catch(() => undefined);
    });
    this.#change({ isOn: false, busy: false });
  }

  setKind(kind: RingKind, rings: boolean): void {
    this.#prefer({ off: withKind(this.#state.preferences.off, kind, rings) });
  }

  /** `session` is a `sessionKey`. */
  setSession(session: string, kind: RingKind, rings: boolean): void {
    const { [session]: kinds = [], ...others } = this.#state.preferences.sessions;
    const off = withKind(kinds, kind, rings);
    this.#prefer({ sessions: off.length === 0 ? others : { ...others, [session]: off } });
  }

  setQuiet(quiet: { from: string; to: string } | undefined): void {
    const timeZone = this.#options.browser.timeZone();
    this.#prefer({ quiet: quiet === undefined ? undefined : { ...quiet, timeZone } });
  }

  startQuiet(): void {
    this.setQuiet(NIGHT);
  }

  /** Sends a push to this phone and shows the time of each leg. */
  async test(): Promise<void> {
    const { relay, seal, newId, now } = this.#options;
    const id = newId();
    const startedAt = now();
    this.#change({ test: { id, startedAt } });
    try {
      const found = await relay();
      if (found === undefined) throw new Error("signed out");
      const sealedFor = await seal(id);
      const answer = await found.api.testWebPush(found.deviceId, { id, ...(sealedFor ? { sealedFor } : {}) });
      const whole = now() - startedAt;
      const { status, milliseconds, detail } = answer;
      const isAccepted = status >= 200 && status < 300;
      this.#testStep(id, {
        relay: { milliseconds: Math.max(0, whole - milliseconds) },
        vendor: isAccepted ? { milliseconds } : { problem: detail ?? String(status) },
      });
      if (GONE.includes(status)) await this.#renew();
    } catch (error) {
      this.#testStep(id, { relay: { problem: errorText(error) } });
      if (error instanceof RelayError && error.code === "not_found") await this.#renew();
    }
  }

  /** Subscribes afresh: the relay has removed the subscription, which the push service no longer knows. */
  async #renew(): Promise<void> {
    const { browser, storage } = this.#options;
    await this.#inTurn(async () => {
      // They were switched off meanwhile.
      if (await storage.readPreferences() === undefined) return;
      await browser.unsubscribe();
      const problem = await this.#subscribe(this.#state.preferences);
      this.#change({ isOn: problem === undefined, problem });
    });
  }

  /** Call this for the service worker's message about a test. */
  tested({ id, openedAt, shownAt, sealed }: Extract<WorkerMessage, { kind: "svc-tested" }>): void {
    const startedAt = this.#state.test?.startedAt ?? 0;
    this.#testStep(id, { phone: { opened: openedAt - startedAt, shown: shownAt - startedAt, sealed } });
  }

  #testStep(id: string, step: Partial<TestRun>): void {
    const { test } = this.#state;
    if (test?.id === id) this.#change({ test: { ...test, ...step } });
  }

  #prefer(change: { [Name in keyof RingPreferences]?: RingPreferences[Name] | undefined }): void {
    const { quiet, ...rest } = { ...this.#state.preferences, ...change };
    const preferences = { ...EVERYTHING, ...rest, ...(quiet === undefined ? {} : { quiet }) };
    this.#change({ preferences });
    void this.#inTurn(async () => {
      await this.#options.storage.writePreferences(preferences);
      await this.#save(preferences);
    });
  }

  /** Runs changes one after the other, so that the last one wins and none subscribes again after switching off. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    return this.#saving = this.#saving.then(work).catch((error) =>
      this.#change({ problem: errorText(error) })
    );
  }

  async #save(preferences: RingPreferences): Promise<void> {
    this.#change({ problem: await this.#subscribe(preferences) });
  }

  /** Returns why it failed, or undefined if the relay has the subscription. */
  async #subscribe(preferences: RingPreferences): Promise<string | undefined> {
    const { browser, relay } = this.#options;
    try {
      const found = await relay();
      if (found === undefined) return undefined;
      const { api, deviceId } = found;
      const subscription = await browser.subscribe(await api.webPushKey());
      await api.saveWebPush(deviceId, { ...subscription, preferences });
      return undefined;
    } catch (error) {
      return errorText(error);
    }
  }

  #change(change: Partial<RingingState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener(this.#state);
  }
}

function withKind(off: readonly RingKind[], kind: RingKind, rings: boolean): RingKind[] {
  return RING_KINDS.filter((one) => one === kind ? !rings : off.includes(one));
}

/** Returns the subscription for this key, replacing one for another relay's key. Rejects with the browser's reason. */
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

/** Settings in IndexedDB, where the service worker can read them, too. */
interface PushStorage {
  /** Undefined unless notifications are on. */
  readPreferences(): Promise<RingPreferences | undefined>;
  writePreferences(preferences: RingPreferences): Promise<void>;
  /** The page's language; null until a page has been open. */
  readLanguage(): Promise<string | null>;
  writeLanguage(language: string): Promise<void>;
  clear(): Promise<void>;
}

const STORE = "preferences";
const KEY = "current";
const LANGUAGE_KEY = "language";

/** Opens the database when it is first used. */
export function pushStorage(): PushStorage {
  const database = reopening(() =>
    openAny("svc-push", 1, (created) => void created.createObjectStore(STORE))
  );
  const read = (key: string): Promise<unknown> => database((one) => one.get(STORE, key));
  const write = (key: string, value: unknown): Promise<void> =>
    database(async (one) => void await one.put(STORE, value, key));
  return {
    readPreferences: async () => RingPreferences.safeParse(await read(KEY)).data,
    writePreferences: (preferences) => write(KEY, preferences),
    readLanguage: async () => {
      const found = await read(LANGUAGE_KEY);
      return typeof found === "string" ? found : null;
    },
    writeLanguage: (language) => write(LANGUAGE_KEY, language),
    // The language stays: it belongs to the page, which only writes it when it is opened.
    clear: () => database((one) => one.delete(STORE, KEY)),
  };
}

/** Whether this browser can receive notifications, and if not, why. */
type PushSupport = "ready" | keyof typeof NOTIFICATION_STRINGS.notifications.why;

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
