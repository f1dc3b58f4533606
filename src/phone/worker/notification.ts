/** A notification's text, where a tap on it leads, and what it replaces. */
import { type Asked, askedOf } from "../../protocol/ask.ts";
import type { Push } from "../../protocol/push.ts";
import type { WebPushPayload } from "../../protocol/web_push.ts";
import { singleOptions } from "../card_form.ts";
import { formatRoute } from "../route.ts";
import { NOTIFICATION_STRINGS } from "../strings_manage.ts";

const { notification: TEXT } = NOTIFICATION_STRINGS;
/** A longer text is cut: no system shows more. */
const BODY_MAX_CHARS = 500;
/** A card's first options, where the browser shows buttons. */
const ACTIONS_MAX = 2;
const ACTION_MAX_CHARS = 60;

type Ring = Extract<WebPushPayload, { kind: "ring" }>;

/** Kept with a notification for the tap, and for the page that takes it away. */
export interface NotificationData {
  id: string;
  /** The page's address in the app, from `#` on. */
  hash: string;
}

export interface ShownNotification {
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
export interface NotificationAction {
  action: string;
  title: string;
}

/** `opened` is the push with its text; undefined when the text is not for this phone. `maxActions`: buttons that the browser shows. */
export function notificationOf(
  ring: Ring,
  { opened, maxActions }: { opened: Push | undefined; maxActions: number },
): ShownNotification {
  const { id, session = "" } = ring;
  const asked = opened && askedOf(opened);
  const body = opened === undefined ? session : bodyOf(opened, asked);
  const actions = maxActions < ACTIONS_MAX ? [] : actionsOf(asked);
  return {
    title: titleOf(ring, { opened, asked }),
    options: {
      body: cut(body, BODY_MAX_CHARS),
      tag: tagOf(ring),
      // A later one about the same session rings again.
      renotify: true,
      timestamp: ring.createdAt,
      icon: "icon.svg",
      data: { id, hash: hashOf(ring) },
      ...(actions.length > 0 ? { actions } : {}),
    },
  };
}

/** The address for a tap, or for a tap on one of the buttons. */
export function tappedHash({ hash = "#/" }: Partial<NotificationData>, action: string): string {
  return action === "" ? hash : `${hash}/${action}`;
}

function titleOf(
  { type, session = "" }: Ring,
  { opened, asked }: { opened: Push | undefined; asked: Asked | undefined },
): string {
  if (opened === undefined) return TEXT.untold[type];
  if (type === "ask") {
    if (session === "") return TEXT.untold.ask;
    return asked?.kind === "approval" ? TEXT.wantsPermission(session) : TEXT.asks(session);
  }
  if (type === "note") return opened.title ?? TEXT.note;
  return opened.title ?? TEXT.untold[type];
}

function bodyOf({ body = "" }: Push, asked: Asked | undefined): string {
  return asked?.kind === "approval" ? `${asked.tool}: ${body}` : body;
}

/** Of a question with one answer; never for a request for permission. */
function actionsOf(asked: Asked | undefined): NotificationAction[] {
  const options = asked === undefined ? [] : singleOptions(asked).slice(0, ACTIONS_MAX);
  return options.map(({ label }, place) => ({ action: String(place), title: cut(label, ACTION_MAX_CHARS) }));
}

function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars - 1)}…` : text;
}

/** A session's turns and dialogs replace one another; questions and notes stand for themselves. */
export function tagOf({ id, type, host, session }: Pick<Ring, "id" | "type" | "host" | "session">): string {
  return type === "ask" || type === "note" || session === undefined ? id : `${host}/${session}`;
}

/** A dialog is in the terminal, everything else among the session's messages. */
function hashOf({ id, type, host, session }: Ring): string {
  if (host === "" || session === undefined) return formatRoute({ view: "inbox", item: id });
  const place = type === "agent.attention" ? {} : { panel: "messages" as const, item: id };
  return formatRoute({ view: "session", deviceId: host, session, ...place });
}
