/** Web Push: a phone's subscription and preferences, what rings, and what the relay sends to the phone's service worker. */
import * as z from "zod/mini";
import { utf8Length } from "../async/encodings.ts";
import { maxLength } from "./lengths.ts";
import { WEB_PUSH_SUBSCRIPTION_MAX_BYTES } from "./limits.ts";
import { DeviceId, hostOf, PublicKey, type Push, SealedForPhones } from "./push.ts";
import { PushId } from "./receipt.ts";

/** The push types that ring a phone. */
export const RING_KINDS = ["ask", "agent.attention", "agent.stop", "note"] as const;
export const RingKind = z.enum(RING_KINDS);
export type RingKind = z.infer<typeof RingKind>;

const RingKinds = z.array(RingKind).check(maxLength(RING_KINDS.length));

/** Sessions for which one phone may have settings. */
const QUIET_SESSIONS_MAX = 200;

const ClockTime = z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/, "a time such as 22:00"));

/** The phone does not ring from `from` until `to`, in its time zone. */
export const QuietHours = z.object({
  from: ClockTime,
  to: ClockTime,
  timeZone: z.string().check(maxLength(64), z.refine(isTimeZone, "a time zone such as Europe/Berlin")),
});
export type QuietHours = z.infer<typeof QuietHours>;

/** Pushes that do not ring a phone. The relay decides, because a browser must show every message that it gets. */
export const RingPreferences = z.object({
  /** Kinds that do not ring. */
  off: RingKinds,
  /** Kinds that do not ring for one session, by `<listener's device id>/<session>`. */
  sessions: z.record(z.string().check(maxLength(330)), RingKinds).check(
    z.refine(
      (sessions) => Object.keys(sessions).length <= QUIET_SESSIONS_MAX,
      `at most ${QUIET_SESSIONS_MAX} sessions`,
    ),
  ),
  quiet: z.optional(QuietHours),
});
export type RingPreferences = z.infer<typeof RingPreferences>;

/** `PUT /devices/{id}/web-push`: the browser's PushSubscription, and the preferences; without them everything rings. */
export const WebPushSubscription = z.object({
  endpoint: z.string().check(
    z.regex(/^(https:\/\/|http:\/\/(127\.0\.0\.1|localhost)[:/])/, "an https:// address"),
    maxLength(1_000),
  ),
  keys: z.object({ p256dh: PublicKey, auth: z.string().check(maxLength(100)) }),
  preferences: z.optional(RingPreferences),
}).check(
  z.refine(
    (subscription) => utf8Length(JSON.stringify(subscription)) <= WEB_PUSH_SUBSCRIPTION_MAX_BYTES,
    `at most ${WEB_PUSH_SUBSCRIPTION_MAX_BYTES} bytes as JSON`,
  ),
);
export type WebPushSubscription = z.infer<typeof WebPushSubscription>;

/** `GET /web-push/key`: the relay's VAPID key (RFC 8292), base64url of the uncompressed point. */
export const WebPushKey = z.object({ publicKey: PublicKey });
export type WebPushKey = z.infer<typeof WebPushKey>;

/** `POST /devices/{id}/web-push/test`: a text that the phone has sealed for itself, as a host would. */
export const WebPushTest = z.object({ id: PushId, sealedFor: z.optional(SealedForPhones) });
export type WebPushTest = z.infer<typeof WebPushTest>;

/** The browser vendor's answer to the test, and how many milliseconds it took; `status` is 0 when there was none. */
export const WebPushTested = z.object({
  status: z.number(),
  milliseconds: z.number(),
  detail: z.optional(z.string()),
});
export type WebPushTested = z.infer<typeof WebPushTested>;

/** `PUT /pushes/{id}/shown`: a phone showed a notification, showed the push on its page, or was tapped. */
export const ShownReport = z.object({ deviceId: DeviceId, how: z.enum(["notification", "page", "tap"]) });
export type ShownReport = z.infer<typeof ShownReport>;

/** Fields by which a service worker finds the session, opens the text and groups notifications. */
const about = {
  id: PushId,
  type: RingKind,
  /** The listener's device id; empty when the relay does not know it. */
  host: z.string(),
  session: z.optional(z.string()),
};

/** The content of a Web Push message, which the browser's vendor cannot read (RFC 8291). */
export const WebPushPayload = z.discriminatedUnion("kind", [
  /** Show a notification. `load`: the sealed text is too long for Web Push, fetch the push. */
  z.object({
    kind: z.literal("ring"),
    ...about,
    createdAt: z.number(),
    sealedFor: z.optional(SealedForPhones),
    load: z.optional(z.boolean()),
  }),
  /** The question is closed: remove its notification. */
  z.object({ kind: z.literal("withdraw"), ...about }),
  /** The phone's own test. */
  z.object({ kind: z.literal("test"), id: PushId, sealedFor: z.optional(SealedForPhones) }),
]);
export type WebPushPayload = z.infer<typeof WebPushPayload>;

/** Returns the kind under which the push rings; undefined when it never does. */
export function ringKindOf({ type, data }: Pick<Push, "type" | "data">): RingKind | undefined {
  // The host reports the same event with another push.
  if (data?.["quiet"] === true) return undefined;
  return RING_KINDS.find((kind) => kind === type);
}

/** True if a push of this kind rings a phone with these preferences at `now`. */
export function rings(
  preferences: RingPreferences | undefined,
  { push, kind, now }: {
    push: Pick<Push, "sealedFor" | "data" | "from" | "agentSessionName">;
    kind: RingKind;
    now: number;
  },
): boolean {
  if (preferences === undefined) return true;
  const { off, sessions, quiet } = preferences;
  if (off.includes(kind) || (quiet !== undefined && isQuiet(quiet, now))) return false;
  const { agentSessionName: session } = push;
  if (session === undefined) return true;
  const host = hostOf(push);
  return !Object.entries(sessions).some(([key, kinds]) =>
    kinds.includes(kind) && (host === undefined ? key.endsWith(`/${session}`) : key === `${host}/${session}`)
  );
}

/** True during the quiet hours. Hours that begin and end at the same time cover no time. */
export function isQuiet({ from, to, timeZone }: QuietHours, now: number): boolean {
  const time = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  })
    .format(now);
  return from <= to ? time >= from && time < to : time >= from || time < to;
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone });
    return true;
  } catch {
    return false;
  }
}
