/** A notification's text, where a tap on it leads, and what it replaces. */
import type { Push } from "../../protocol/push.ts";
import type { RingKind, WebPushPayload } from "../../protocol/web_push.ts";
import { formatRoute } from "../route.ts";
import { NOTIFICATION_STRINGS } from "../strings_notifications.ts";

const { notification: TEXT } = NOTIFICATION_STRINGS;
/** A longer text is cut: no system shows more. */
const BODY_MAX_CHARS = 500;

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
  };
}

/** `opened` is the push with its text; undefined when the text is not for this phone. */
export function notificationOf(
  ring: Ring,
  opened: Pick<Push, "title" | "body"> | undefined,
): ShownNotification {
  const { id, type, session = "" } = ring;
  const title = opened === undefined ? TEXT.untold[type] : titleOf(type, session, opened);
  const body = opened === undefined ? session : opened.body ?? "";
  return {
    title,
    options: {
      body: body.length > BODY_MAX_CHARS ? `${body.slice(0, BODY_MAX_CHARS - 1)}…` : body,
      tag: tagOf(ring),
      // A later one about the same session rings again.
      renotify: true,
      timestamp: ring.createdAt,
      icon: "icon.svg",
      data: { id, hash: hashOf(ring) },
    },
  };
}

function titleOf(type: RingKind, session: string, { title }: Pick<Push, "title">): string {
  if (type === "ask") return session === "" ? TEXT.untold.ask : TEXT.asks(session);
  if (type === "note") return title ?? TEXT.note;
  return title ?? TEXT.untold[type];
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
