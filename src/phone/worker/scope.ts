/** What the service worker uses of its global scope: the DOM's types lack the worker's own. */

/** An event whose handling the browser waits for. */
export interface WorkerEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}

export interface FetchEvent extends WorkerEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

export interface PushEvent extends WorkerEvent {
  readonly data: { text(): string } | null;
}

export interface NotificationEvent extends WorkerEvent {
  readonly notification: Notification;
  /** The button that was tapped; empty for the notification itself. */
  readonly action?: string;
}

/** A page of the app. */
export interface PageClient {
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}

export interface WorkerEvents {
  install: WorkerEvent;
  activate: WorkerEvent;
  fetch: FetchEvent;
  push: PushEvent;
  notificationclick: NotificationEvent;
  /** The browser replaced the subscription. */
  pushsubscriptionchange: WorkerEvent;
}

export interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly caches: CacheStorage;
  /** `maxActions`: how many buttons a notification shows; not in every browser. */
  readonly Notification?: { readonly maxActions?: number };
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: { type: "window"; includeUncontrolled: true }): Promise<readonly PageClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  fetch(request: Request): Promise<Response>;
  addEventListener<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): void;
}
