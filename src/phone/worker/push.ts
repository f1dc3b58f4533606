/** Shows pushes while the page is closed: opens the sealed text, shows a notification, and opens the page on a tap. */
import { isOver, type OpenedHostPush } from "../../crypto/host_push.ts";
import { type Asked, askedOf } from "../../protocol/ask.ts";
import { parseJson } from "../../protocol/json.ts";
import { SKEW_MS, TTL_DEFAULT_SECONDS } from "../../protocol/limits.ts";
import type { Push } from "../../protocol/push.ts";
import { type ShownReport, WebPushPayload } from "../../protocol/web_push.ts";
import { singleOptions } from "../inbox.ts";
import { formatRoute } from "../route.ts";
import type { NotificationStrings } from "../strings.ts";
import { NOTIFICATION_STRINGS } from "../strings_notifications.ts";
import type { NotificationEvent, PushEvent, WorkerScope } from "./scope.ts";

type Texts = NotificationStrings["notification"];

/** The texts, in the language of the last push. */
let TEXT: Texts = NOTIFICATION_STRINGS.notification;
/** A browser ends a worker that takes longer, and shows its own text. */
const LOAD_LIMIT_MS = 8_000;
/**
 * How long a push without an expiry is valid: a host may try for ten minutes to send it, then the relay's default
 * applies.
 */
const UNTIMED_LIFE_MS = TTL_DEFAULT_SECONDS * 1_000 + SKEW_MS;

/** The worker's access to the phone's storage and to the relay. */
export interface PushParts {
  /** Resolves to the push with its text, or to undefined if it is not sealed for this phone. */
  open(push: Push): Promise<OpenedHostPush | undefined>;
  /** Resolves to the push from the relay. Rejects if the relay cannot be reached. */
  load(id: string, signal: AbortSignal): Promise<Push>;
  /** Reports what was shown. Rejects if the relay cannot be reached. */
  report(push: string, how: ShownReport["how"]): Promise<void>;
  /** Resolves to the texts in the page's language. */
  texts(): Promise<Texts>;
  /** Subscribes again, after the browser dropped the subscription. */
  resubscribe(): Promise<void>;
  now(): number;
}

/** A message to the pages: the address that a tapped notification opens, or how a test went. */
export type WorkerMessage =
  | { kind: "svc-open"; hash: string }
  | { kind: "svc-tested"; id: string; openedAt: number; shownAt: number; sealed: boolean };

export function showPushes(scope: WorkerScope, parts: PushParts): void {
  scope.addEventListener("push", (event) => event.waitUntil(onPush(scope, parts, event)));
  scope.addEventListener("notificationclick", (event) => event.waitUntil(onClick(scope, parts, event)));
  scope.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(quietly(parts.resubscribe())));
}

async function onPush(scope: WorkerScope, parts: PushParts, { data }: PushEvent): Promise<void> {
  const openedAt = parts.now();
  TEXT = await parts.texts().catch(() => TEXT);
  const payload = WebPushPayload.safeParse(parseJson(data?.text() ?? "")?.value).data;
  switch (payload?.kind) {
    case "ring":
      return await ring(scope, parts, payload);
    case "withdraw":
      return await withdraw(scope, payload);
    case "test":
      return await showTest(scope, parts, { payload, openedAt });
    case undefined:
      // From a newer relay: browsers require every push to be shown.
      return await scope.registration.showNotification(TEXT.unknown);
  }
}

async function ring(scope: WorkerScope, parts: PushParts, payload: Ring): Promise<void> {
  const opened = await openedText(parts, payload);
  const { title, options } = notificationOf(payload, {
    opened,
    maxActions: scope.Notification?.maxActions ?? 0,
  });
  await scope.registration.showNotification(title, options);
  await quietly(parts.report(payload.id, "notification"));
}

/**
 * Resolves to the push with its text, from the message or, if too long for that, from the relay. Undefined if it cannot
 * be opened, belongs to another push, or is too old to have just arrived.
 */
async function openedText(
  { open, load, now }: PushParts,
  payload: Ring,
): Promise<OpenedHostPush | undefined> {
  try {
    const { id, type, session } = payload;
    const push = payload.load === true
      ? await load(id, AbortSignal.timeout(LOAD_LIMIT_MS))
      : sealedPush(payload);
    if (push.id !== id || push.type !== type || push.agentSessionName !== session) return undefined;
    const opened = await open(push);
    return opened === undefined || isOld(opened, now()) ? undefined : opened;
  } catch {
    return undefined;
  }
}

function isOld(opened: OpenedHostPush, now: number): boolean {
  const { sealedAt = Infinity, sealedUntil = sealedAt + UNTIMED_LIFE_MS } = opened;
  return isOver({ ...opened, sealedUntil }, now);
}

/** The fields that the sealed text is bound to. */
function sealedPush({ id, type, session, sealedFor }: {
  id: string;
  type: string;
  session?: string | undefined;
  sealedFor?: Push["sealedFor"];
}): Push {
  return {
    id,
    type,
    from: "",
    createdAt: 0,
    expiresAt: 0,
    ...(session === undefined ? {} : { agentSessionName: session }),
    ...(sealedFor === undefined ? {} : { sealedFor }),
  };
}

/**
 * Replaces the notification without a sound, then closes it: browsers require every push to show a notification, even
 * if only for a moment.
 */
async function withdraw(
  { registration }: WorkerScope,
  payload: Extract<WebPushPayload, { kind: "withdraw" }>,
): Promise<void> {
  const tag = tagOf(payload);
  await registration.showNotification(TEXT.answered, { tag, silent: true });
  for (const notification of await registration.getNotifications({ tag })) notification.close();
}

async function showTest(
  scope: WorkerScope,
  { open, now }: PushParts,
  { payload, openedAt }: { payload: Extract<WebPushPayload, { kind: "test" }>; openedAt: number },
): Promise<void> {
  const { id } = payload;
  const opened = await open(sealedPush({ ...payload, type: "note" })).catch(() => undefined);
  const body = opened === undefined ? TEXT.testPlain : TEXT.testSealed;
  const data: NotificationData = { id, hash: "#/notifications" };
  await scope.registration.showNotification(TEXT.test, { body, tag: "test", icon: "icon.svg", data });
  await postToPages(scope, {
    kind: "svc-tested",
    id,
    openedAt,
    shownAt: now(),
    sealed: opened !== undefined,
  });
}

/** Brings the page to the front, or opens it, at the session and the question. */
async function onClick(
  scope: WorkerScope,
  parts: PushParts,
  { notification, action = "" }: NotificationEvent,
): Promise<void> {
  notification.close();
  const data = notification.data as Partial<NotificationData> | null;
  const hash = tappedHash(data ?? {}, action);
  const [page] = await scope.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (page === undefined) await scope.clients.openWindow(new URL(hash, scope.registration.scope).href);
  else {
    const message: WorkerMessage = { kind: "svc-open", hash };
    page.postMessage(message);
    await quietly(page.focus());
  }
  if (data?.id !== undefined && notification.tag !== "test") await quietly(parts.report(data.id, "tap"));
}

async function postToPages(scope: WorkerScope, message: WorkerMessage): Promise<void> {
  for (const page of await scope.clients.matchAll({ type: "window", includeUncontrolled: true })) {
    page.postMessage(message);
  }
}

/** Ignores failures: a worker can do nothing about a relay that does not answer. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

/** A longer text is cut: no system shows more. */
const BODY_MAX_CHARS = 500;
/** How many of a card's options become buttons, if the browser shows that many. */
const ACTIONS_MAX = 2;
const ACTION_MAX_CHARS = 60;

type Ring = Extract<WebPushPayload, { kind: "ring" }>;

/** Stored with a notification for a tap, and for the page that closes it. */
export interface NotificationData {
  id: string;
  /** The page's address in the app, from `#` on. */
  hash: string;
}

interface ShownNotification {
  title: string;
  options: NotificationOptions & {
    data: NotificationData;
    tag: string;
    renotify?: boolean;
    timestamp?: number;
    actions?: NotificationAction[];
  };
}

/** A button; the DOM's types lack it. Its name is the option's place in the question. */
interface NotificationAction {
  action: string;
  title: string;
}

/**
 * `opened`: the push with its text, undefined if that is not for this phone. `maxActions`: buttons that the browser
 * shows.
 */
function notificationOf(
  ring: Ring,
  { opened, maxActions }: { opened: OpenedHostPush | undefined; maxActions: number },
): ShownNotification {
  const { id, session = "", createdAt } = ring;
  // The text is bound to its host.
  const place = { ...ring, host: opened?.sealedFor?.host ?? ring.host };
  const asked = opened && askedOf(opened);
  const body = opened === undefined ? session : bodyOf(opened, asked);
  const actions = maxActions < ACTIONS_MAX ? [] : actionsOf(asked);
  return {
    title: titleOf(ring, { opened, asked }),
    options: {
      body: cut(body, BODY_MAX_CHARS),
      tag: tagOf(place),
      // A later notification about the same session rings again.
      renotify: true,
      // Its age is the host's: a relay must not show an old push as new.
      timestamp: Math.min(createdAt, (opened?.sealedAt ?? Infinity) + SKEW_MS),
      icon: "icon.svg",
      data: { id, hash: hashOf(place) },
      ...(actions.length > 0 ? { actions } : {}),
    },
  };
}

/** The address for a tap, or for a tap on one of the buttons. */
function tappedHash({ hash = "#/" }: Partial<NotificationData>, action: string): string {
  return action === "" ? hash : `${hash}/${action}`;
}

function titleOf(
  { type, session = "" }: Ring,
  { opened, asked }: { opened: Push | undefined; asked: Asked | undefined },
): string {
  if (opened === undefined) return TEXT.titles[type];
  if (type === "ask") {
    if (session === "") return TEXT.titles.ask;
    return asked?.kind === "approval" ? TEXT.wantsPermission(session) : TEXT.asks(session);
  }
  if (type === "note") return opened.title ?? TEXT.note;
  return opened.title ?? TEXT.titles[type];
}

function bodyOf({ body = "" }: Push, asked: Asked | undefined): string {
  return asked?.kind === "approval" ? `${asked.tool}: ${body}` : body;
}

/** Buttons for a question with one answer; none for a request for permission. */
function actionsOf(asked: Asked | undefined): NotificationAction[] {
  const options = asked === undefined ? [] : singleOptions(asked).slice(0, ACTIONS_MAX);
  return options.map(({ label }, place) => ({ action: String(place), title: cut(label, ACTION_MAX_CHARS) }));
}

function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars - 1)}…` : text;
}

/** A session's turns and dialogs replace one another; each question and note has its own notification. */
export function tagOf({ id, type, host, session }: Pick<Ring, "id" | "type" | "host" | "session">): string {
  return type === "ask" || type === "note" || session === undefined ? id : `${host}/${session}`;
}

/** A dialog opens the terminal, everything else the session's messages. */
function hashOf({ id, type, host, session }: Ring): string {
  if (host === "" || session === undefined) return formatRoute({ view: "inbox", item: id });
  const place = type === "agent.attention" ? {} : { panel: "messages" as const, item: id };
  return formatRoute({ view: "session", deviceId: host, session, ...place });
}
