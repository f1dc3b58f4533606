/** Every control frame of the WebSocket, on one page: JSON text `{event, id?, re?, data}`. */
import * as z from "zod/mini";
import { describeFaults } from "./errors.ts";
import { maxLength } from "./lengths.ts";
import { DeviceSessions, ReportedDetails, SessionList } from "./session.ts";
import { parseJson } from "./json.ts";
import { PANE_SIZE_MAX, SCROLLBACK_LINES_MAX, TEXT_FRAME_MAX_BYTES } from "./limits.ts";
import { DeviceId, PublicKey, Push, PushId, SealMode, SessionName } from "./push.ts";
import { PushState, Receipt, ReceiptProof } from "./receipt.ts";

const stream = z.int().check(z.minimum(1), z.maximum(0xffff_ffff));
const size = z.int().check(z.minimum(1), z.maximum(PANE_SIZE_MAX));
/** A short code, which the relay stores and passes on. */
const reason = z.string().check(maxLength(200));

export const ROLES = ["listener", "phone", "script"] as const;
export type Role = (typeof ROLES)[number];

/** The payload of each event, by name; the comment above it is its line in docs/protocol.md. */
export const EVENTS = {
  /** client → relay: must be the first frame. */
  hello: z.object({
    role: z.enum(ROLES),
    deviceId: z.optional(DeviceId),
    name: z.string().check(maxLength(200)),
    version: z.string().check(maxLength(50)),
    publicKey: z.optional(PublicKey),
    capabilities: z.array(z.string().check(maxLength(64))).check(maxLength(50)),
  }),
  /** relay → client: answers hello; `now` is the relay's clock in epoch milliseconds. */
  welcome: z.object({
    relayVersion: z.string(),
    protocolVersion: z.number(),
    deviceId: z.string(),
    now: z.number(),
    limits: z.record(z.string(), z.number()),
  }),
  /** both ways: checks that the peer is alive. Browsers cannot send WebSocket pings. */
  ping: z.object({}),
  /** both ways: answers ping; `re` names it. */
  pong: z.object({}),
  /** relay → client: a push. Resent until acknowledged, also after a reconnect. */
  "push.new": Push,
  /** relay → listener: this message is about to be stored. The listener may look at the pane meanwhile; nothing depends on it. */
  "push.soon": z.object({ id: PushId, agentSessionName: SessionName }),
  /** listener or asker → relay: idempotent, accepted for a push that is already final. `final` ends the push. */
  "push.ack": z.object({
    id: PushId,
    outcome: PushState,
    reason: z.optional(reason),
    retryAfterSeconds: z.optional(z.number()),
    agentSessionName: z.optional(z.string().check(maxLength(256))),
    final: z.boolean(),
    /** See `Receipt`. */
    proof: z.optional(ReceiptProof),
  }),
  /** relay → phones and scripts: the receipt changed. */
  "push.updated": z.object({ id: PushId, receipt: Receipt }),
  /** listener → relay: the inventory, sent on a change or as the idle heartbeat. Without `details` they are unchanged. */
  "listener.sessions": z.object({
    sequence: z.number(),
    sessions: SessionList,
    details: z.optional(ReportedDetails),
  }),
  /** relay → listener: the inventory is stored. */
  "listener.stored": z.object({ count: z.number() }),
  /** relay → listener: the inventory was not accepted. */
  "listener.rejected": z.object({ reason: z.string() }),
  /** relay → phones and scripts: one listener's sessions changed, or it went online or offline. */
  "sessions.changed": DeviceSessions,
  /** phone → listener, through the relay: mirror this session. */
  "pane.open": z.object({
    stream,
    agentSessionName: SessionName,
    /** The listener's device id. */
    deviceId: z.optional(DeviceId),
    /** The phone's own device id; together with `publicKey` and `mode` it requests a sealed stream. */
    from: z.optional(DeviceId),
    /** This side's receiving key, generated for this stream. */
    publicKey: z.optional(PublicKey),
    mode: z.optional(SealMode),
    /** The device whose connection this is, set by the relay for the host's audit log. */
    sender: z.optional(DeviceId),
    cols: z.optional(size),
    rows: z.optional(size),
  }),
  /** listener → phone: the mirror is running; sealed when `publicKey` and `mode` are present. */
  "pane.opened": z.object({
    stream,
    publicKey: z.optional(PublicKey),
    mode: z.optional(SealMode),
    cols: size,
    rows: size,
  }),
  /** both ways: the mirror ended. */
  "pane.closed": z.object({ stream, reason }),
  /** phone → listener: how many more bytes the phone can accept. */
  "pane.credit": z.object({ stream, bytes: z.int().check(z.minimum(1), z.maximum(0x7fff_ffff)) }),
  /** phone → listener: send the screen again, with this many lines above it. */
  "pane.scrollback": z.object({
    stream,
    lines: z.int().check(z.minimum(1), z.maximum(SCROLLBACK_LINES_MAX)),
  }),
} as const;

export type EventName = keyof typeof EVENTS;
export type EventData<E extends EventName> = z.infer<(typeof EVENTS)[E]>;

/** A parsed frame. `re` is the id of the frame it answers. */
export type Frame = {
  [E in EventName]: { event: E; id?: string | undefined; re?: string | undefined; data: EventData<E> };
}[EventName];

const Envelope = z.object({
  event: z.string(),
  id: z.optional(z.string().check(maxLength(100))),
  re: z.optional(z.string().check(maxLength(100))),
  data: z.optional(z.unknown()),
});

/**
 * A rejected frame: unknown events are ignored and counted, malformed ones are answered or counted.
 * `event` and `id` are set when only the data of a known event was bad.
 */
export interface FrameFault {
  fault: "malformed" | "unknown_event";
  detail: string;
  event?: EventName;
  id?: string | undefined;
}

/** Maximum characters of a frame; the relay adds a little to the frames that it passes on. */
const FRAME_MAX_CHARS = 2 * TEXT_FRAME_MAX_BYTES;

/** Parses the text of one incoming control frame. Never throws. */
export function parseFrame(text: string): Frame | FrameFault {
  if (text.length > FRAME_MAX_CHARS) return { fault: "malformed", detail: "too long" };
  const json = parseJson(text);
  if (json === undefined) return { fault: "malformed", detail: "not JSON, or nested too deeply" };
  const envelope = Envelope.safeParse(json.value);
  if (!envelope.success) return { fault: "malformed", detail: describeFaults(envelope.error) };
  const { event, id, re, data } = envelope.data;
  if (!Object.hasOwn(EVENTS, event)) return { fault: "unknown_event", detail: event.slice(0, 64) };
  const known = event as EventName;
  const parsed = EVENTS[known].safeParse(data ?? {});
  if (!parsed.success) {
    return { fault: "malformed", detail: `${event}: ${describeFaults(parsed.error)}`, event: known, id };
  }
  return { event, id, re, data: parsed.data } as Frame;
}

/** The text of a control frame. */
export function encodeFrame<E extends EventName>(
  event: E,
  data: EventData<E>,
  ids: { id?: string; re?: string } = {},
): string {
  return JSON.stringify({ event, ...ids, data });
}
