/** A browser's push in Chromium, whose push service tests cannot reach: subscriptions lead to a local one, and the debugger delivers its messages. */
import type { CDPSession, Page, Worker } from "playwright-core";
import { openMessage, PushVendor, type Subscriber } from "../helpers/push_vendor.ts";
import { until } from "../helpers/until.ts";

export interface ShownNotification {
  title: string;
  body: string;
  tag: string;
}

export class PushBrowser implements AsyncDisposable {
  readonly vendor = new PushVendor();
  readonly #page: Page;
  readonly #origin: string;
  #subscriber: Subscriber | undefined;
  #debugger: CDPSession | undefined;
  #registration = "";
  /** The registrations with an active worker. */
  readonly #active = new Set<string>();
  #delivered = 0;

  constructor(page: Page, origin: string) {
    this.#page = page;
    this.#origin = origin;
  }

  /** Must be called before the page is opened. */
  async prepare(): Promise<void> {
    this.#subscriber = await this.vendor.subscribe("phone");
    const context = this.#page.context();
    await context.grantPermissions(["notifications"], { origin: this.#origin });
    await context.addInitScript(fakeSubscription, this.#subscriber.subscription);
    const cdp = await context.newCDPSession(this.#page);
    cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const own = registrations.find(({ scopeURL }) => scopeURL.startsWith(this.#origin));
      if (own !== undefined) this.#registration = own.registrationId;
    });
    cdp.on("ServiceWorker.workerVersionUpdated", ({ versions }) => {
      for (const { registrationId, status } of versions) {
        if (status === "activated") this.#active.add(registrationId);
      }
    });
    await cdp.send("ServiceWorker.enable");
    this.#debugger = cdp;
  }

  /**
   * Delivers the next message to the service worker, as the browser does after its push service has received it;
   * resolves once it is shown.
   */
  async deliver(): Promise<void> {
    const message = await until("a message", () => this.vendor.messages[this.#delivered]);
    this.#delivered += 1;
    const subscriber = this.#subscriber;
    if (subscriber === undefined) throw new Error("Cannot deliver: call prepare first");
    const data = JSON.stringify(await openMessage(message.body, subscriber));
    // Before the worker is active, the browser drops the message.
    const registrationId = await until(
      "the active service worker",
      () => this.#active.has(this.#registration) && this.#registration,
    );
    const before = await this.#showings();
    await this.#debugger?.send("ServiceWorker.deliverPushMessage", {
      origin: this.#origin,
      registrationId,
      data,
    });
    // Chromium drops a notification if the shown ones are queried while it is about to show it.
    await until("the notification to be shown", async () => await this.#showings() > before);
  }

  /** Returns the notifications that the system shows now. */
  async shown(): Promise<ShownNotification[]> {
    return await (await this.#worker()).evaluate(async () => {
      const scope = globalThis as unknown as { registration: ServiceWorkerRegistration };
      const shown = await scope.registration.getNotifications();
      return shown.map(({ title, body, tag }) => ({ title, body, tag }));
    });
  }

  /** Returns how many notifications the worker has shown since the first call. */
  async #showings(): Promise<number> {
    return await (await this.#worker()).evaluate(() => {
      const scope = globalThis as unknown as { registration: ServiceWorkerRegistration; showings?: number };
      if (scope.showings === undefined) {
        scope.showings = 0;
        const show = scope.registration.showNotification.bind(scope.registration);
        scope.registration.showNotification = async (...given) => {
          await show(...given);
          scope.showings = (scope.showings ?? 0) + 1;
        };
      }
      return scope.showings;
    });
  }

  async tap(tag: string): Promise<void> {
    await (await this.#worker()).evaluate(async (tag) => {
      const scope = globalThis as unknown as EventTarget & { registration: ServiceWorkerRegistration };
      const [notification] = await scope.registration.getNotifications({ tag });
      type Constructor = new (type: string, init: { notification: Notification | undefined }) => Event;
      const { NotificationEvent } = globalThis as unknown as { NotificationEvent: Constructor };
      scope.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
    }, tag);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.vendor[Symbol.asyncDispose]();
  }

  #worker(): Promise<Worker> {
    return until("the service worker", () => this.#page.context().serviceWorkers()[0]);
  }
}

/** Runs in the page: replaces the browser's subscription. */
function fakeSubscription(subscription: { endpoint: string; keys: Record<string, string> }): void {
  const KEPT = "test-push-key";
  if (!("PushManager" in globalThis)) return;
  const made = (key: ArrayBuffer) => ({
    options: { applicationServerKey: key },
    toJSON: () => subscription,
    unsubscribe: () => {
      localStorage.removeItem(KEPT);
      return Promise.resolve(true);
    },
  });
  const kept = (): ArrayBuffer | undefined => {
    const text = localStorage.getItem(KEPT);
    return text === null ? undefined : new Uint8Array(JSON.parse(text)).buffer;
  };
  Object.assign(PushManager.prototype, {
    subscribe: ({ applicationServerKey }: { applicationServerKey: Uint8Array<ArrayBuffer> }) => {
      localStorage.setItem(KEPT, JSON.stringify([...applicationServerKey]));
      return Promise.resolve(made(applicationServerKey.buffer));
    },
    getSubscription: () => {
      const key = kept();
      return Promise.resolve(key === undefined ? null : made(key));
    },
  });
}
