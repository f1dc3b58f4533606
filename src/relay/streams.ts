/** Mirrors between phones and listeners: maps each phone's own stream numbers to numbers that the relay assigns. */
import { encodeFrame, type EventData } from "../protocol/frames.ts";
import { BINARY_FRAME_MAX_BYTES, STREAMS_PER_KEY } from "../protocol/limits.ts";
import { decodeBinaryFrame, KEY_FRAME, PANE_FRAME } from "../protocol/pane_frame.ts";
import type { DeviceName, Store } from "../store/store.ts";
import { OVER_BUDGET } from "./budgets.ts";
import { Connection, type PhonePeer, UNREAD_MAX_BYTES } from "./connection.ts";
import type { Hub } from "./hub.ts";
import { counter, type RelayMetrics } from "./metrics.ts";
import type { RemotePhones } from "./remote_phones.ts";

export const STRAY_FRAMES = counter(
  "svc_stray_frames_total",
  "Mirror frames that belong to none of their sender's streams.",
);

/** Unread bytes of a listener above which a long keystroke frame closes its sender. */
const LONG_UNREAD_MAX_BYTES = 1_048_576;
/** Unread bytes of a listener above which other frames of a phone are dropped; below the limit that closes the listener. */
const SHORT_UNREAD_MAX_BYTES = UNREAD_MAX_BYTES / 2;
/** Unread bytes of a phone above which one of its streams is ended; below the limit that closes the phone. */
const PANE_UNREAD_MAX_BYTES = UNREAD_MAX_BYTES - BINARY_FRAME_MAX_BYTES;
/** Keystroke frames of live typing are shorter. */
const SHORT_KEYS_BYTES = 4_096;
/** Mirrors that one phone's connection may have open. */
export const STREAMS_PER_PHONE = 32;

const STREAM_BYTES_OFFSET = 1;
const STREAM_MAX = 0xffff_ffff;

interface Stream {
  phone: PhonePeer;
  /** The phone's number for the stream. */
  phoneStream: number;
  /** Undefined until the listener is found. */
  listener?: Connection;
  /** The relay's number for the stream, which the listener uses. */
  listenerStream: number;
}

interface StreamsOptions {
  store: Store;
  hub: Hub;
  remote: RemotePhones;
  metrics: RelayMetrics;
}

type Table = Map<PhonePeer, Map<number, Stream>>;

export class Streams {
  readonly #options: StreamsOptions;
  readonly #ofPhones: Table = new Map();
  readonly #ofListeners: Table = new Map();
  #lastNumber = 0;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  /** Opening a number that is in use replaces its stream, so that a phone can start over. */
  async open(phone: PhonePeer, open: EventData<"pane.open">): Promise<void> {
    this.#end(this.#ofPhones.get(phone)?.get(open.stream), { toListener: "reopened" });
    this.#options.remote.end(phone, { stream: open.stream, reason: "reopened" });
    if (!this.#mayOpen(phone)) {
      return phone.sendFrame("pane.closed", { stream: open.stream, reason: "too_many_streams" });
    }
    const stream: Stream = { phone, phoneStream: open.stream, listenerStream: 0 };
    put(this.#ofPhones, { connection: phone, number: open.stream, stream });
    const found = await this.#findListener(phone, open);
    // The stream may have been closed or reopened, or the phone may have left, in the meantime.
    if (this.#ofPhones.get(phone)?.get(open.stream) !== stream) return;
    if (typeof found === "string") return this.#end(stream, { toPhone: found });
    if ("node" in found) {
      this.#end(stream, {});
      return this.#options.remote.open(found.phone, open, found);
    }
    if (!this.#listenerHasRoom(found, { from: phone, length: 0 })) {
      return this.#end(stream, { toPhone: "listener_behind" });
    }
    this.#join(stream, found);
    const { sender: _claimed, ...asked } = open;
    const sender = phone.greeted?.deviceId;
    found.sendFrame("pane.open", { ...asked, ...(sender ? { sender } : {}), stream: stream.listenerStream });
  }

  #mayOpen(phone: PhonePeer): boolean {
    if ((this.#ofPhones.get(phone)?.size ?? 0) >= STREAMS_PER_PHONE) return false;
    let ofKey = 0;
    for (const [{ key }, streams] of this.#ofPhones) if (key.id === phone.key.id) ofKey += streams.size;
    return ofKey < STREAMS_PER_KEY;
  }

  /** The listener that has the session: its connection, or its node if it is another; or the reason for `pane.closed`. */
  async #findListener(
    phone: PhonePeer,
    open: EventData<"pane.open">,
  ): Promise<Connection | Elsewhere | string> {
    const { store, hub } = this.#options;
    const { account } = phone;
    const deviceIds = open.deviceId === undefined
      ? await store.devicesWithSession(account, open.agentSessionName)
      : [open.deviceId];
    if (deviceIds.length > 1) return "ambiguous_session";
    const [deviceId] = deviceIds;
    if (deviceId === undefined) return "no_such_session";
    const here = hub.listener(account, deviceId);
    if (here !== undefined) return here;
    const listener = { account, id: deviceId };
    const node = phone instanceof Connection ? await store.nodeOf(listener) : undefined;
    return node === undefined || !(phone instanceof Connection)
      ? "listener_offline"
      : { node, listener, phone };
  }

  opened(listener: Connection, { stream: number, ...rest }: EventData<"pane.opened">): void {
    const stream = this.#ofListeners.get(listener)?.get(number);
    if (stream === undefined) return this.#countStray();
    stream.phone.sendFrame("pane.opened", { stream: stream.phoneStream, ...rest });
  }

  /** Either side closed the stream. */
  closed(from: PhonePeer, { stream: number, reason }: EventData<"pane.closed">): void {
    const isListener = from.greeted?.role === "listener";
    const stream = (isListener ? this.#ofListeners : this.#ofPhones).get(from)?.get(number);
    if (stream === undefined) {
      const isElsewhere = !isListener && this.#options.remote.end(from, { stream: number, reason });
      return isElsewhere ? undefined : this.#countStray();
    }
    this.#end(stream, isListener ? { toPhone: reason } : { toListener: reason });
  }

  /** Forwards a phone's request about an open mirror. */
  forward<E extends "pane.credit" | "pane.scrollback">(
    phone: PhonePeer,
    event: E,
    data: EventData<E>,
  ): void {
    const stream = this.#ofPhones.get(phone)?.get(data.stream);
    if (stream?.listener === undefined) {
      const isElsewhere = this.#options.remote.forward(phone, data.stream, {
        text: encodeFrame(event, data),
      });
      return isElsewhere ? undefined : this.#countStray();
    }
    if (!this.#listenerHasRoom(stream.listener, { from: phone, length: 0 })) return;
    stream.listener.sendFrame(event, { ...data, stream: stream.listenerStream });
  }

  /** Forwards a binary frame: only its stream number is read, and replaced in place. */
  bytes(from: PhonePeer, bytes: Uint8Array): void {
    const stream = this.#streamOf(from, bytes);
    if (stream?.listener === undefined) {
      return this.#forwardKeys(from, bytes) ? undefined : this.#countStray();
    }
    const isPane = bytes[0] === PANE_FRAME;
    const number = isPane ? stream.phoneStream : stream.listenerStream;
    new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).setUint32(STREAM_BYTES_OFFSET, number);
    if (isPane) this.#toPhone(stream, bytes);
    else if (this.#listenerHasRoom(stream.listener, { from, length: bytes.length })) {
      stream.listener.send(bytes);
    }
  }

  /** Forwards keystrokes to another node, which checks the key's scopes again. False if nothing was forwarded. */
  #forwardKeys(phone: PhonePeer, bytes: Uint8Array): boolean {
    const frame = decodeBinaryFrame(bytes);
    if (frame?.kind !== KEY_FRAME || !phone.key.scopes.includes("push:send")) return false;
    return this.#options.remote.forward(phone, frame.stream, { bytes });
  }

  /** A listener that sends more than its phone reads loses the stream; it must never close the phone. */
  #toPhone(stream: Stream, bytes: Uint8Array): void {
    if (stream.phone.unread <= PANE_UNREAD_MAX_BYTES) return stream.phone.send(bytes);
    this.#options.metrics.of(OVER_BUDGET).add({ budget: "phone_unread" });
    this.#end(stream, { toPhone: "phone_behind", toListener: "phone_behind" });
  }

  /** A phone must never close a listener that reads slowly: long frames are refused first, then short ones too. */
  #listenerHasRoom({ unread }: Connection, { from, length }: { from: PhonePeer; length: number }): boolean {
    const isShort = length <= SHORT_KEYS_BYTES;
    if (unread <= (isShort ? SHORT_UNREAD_MAX_BYTES : LONG_UNREAD_MAX_BYTES)) return true;
    this.#options.metrics.of(OVER_BUDGET).add({ budget: "listener_unread" });
    if (!isShort) from.closeForFlood("listener_unread");
    return false;
  }

  /** A frame that belongs to no stream of its sender. */
  #countStray(): void {
    this.#options.metrics.of(STRAY_FRAMES).add();
  }

  /** Ends the streams of a connection that closed. */
  endAllOf(connection: PhonePeer): void {
    this.#options.remote.gone(connection);
    for (const stream of [...this.#ofPhones.get(connection)?.values() ?? []]) {
      this.#end(stream, { toListener: "phone_gone" });
    }
    for (const stream of [...this.#ofListeners.get(connection)?.values() ?? []]) {
      this.#end(stream, { toPhone: "listener_gone" });
    }
  }

  /** Pane frames go from listeners to phones; keystrokes go the other way, and need a key that may send. */
  #streamOf(from: PhonePeer, bytes: Uint8Array): Stream | undefined {
    const frame = decodeBinaryFrame(bytes);
    if (frame === undefined) return undefined;
    if (frame.kind === PANE_FRAME) return this.#ofListeners.get(from)?.get(frame.stream);
    if (frame.kind !== KEY_FRAME || !from.key.scopes.includes("push:send")) return undefined;
    return this.#ofPhones.get(from)?.get(frame.stream);
  }

  #join(stream: Stream, listener: Connection): void {
    const used = this.#ofListeners.get(listener);
    do {
      this.#lastNumber = this.#lastNumber === STREAM_MAX ? 1 : this.#lastNumber + 1;
    } while (used?.has(this.#lastNumber));
    stream.listener = listener;
    stream.listenerStream = this.#lastNumber;
    put(this.#ofListeners, { connection: listener, number: this.#lastNumber, stream });
  }

  #end(stream: Stream | undefined, reasons: { toPhone?: string; toListener?: string }): void {
    if (stream === undefined) return;
    const { phone, phoneStream, listener, listenerStream } = stream;
    remove(this.#ofPhones, { connection: phone, number: phoneStream });
    if (reasons.toPhone !== undefined) {
      phone.sendFrame("pane.closed", { stream: phoneStream, reason: reasons.toPhone });
    }
    if (listener === undefined) return;
    remove(this.#ofListeners, { connection: listener, number: listenerStream });
    if (reasons.toListener !== undefined) {
      listener.sendFrame("pane.closed", { stream: listenerStream, reason: reasons.toListener });
    }
  }
}

/** A listener that is connected to another node, and the phone of this node that opens its mirror. */
interface Elsewhere {
  node: string;
  listener: DeviceName;
  phone: Connection;
}

interface Place {
  connection: PhonePeer;
  number: number;
}

function put(table: Table, { connection, number, stream }: Place & { stream: Stream }): void {
  const streams = table.get(connection) ?? new Map<number, Stream>();
  table.set(connection, streams.set(number, stream));
}

function remove(table: Table, { connection, number }: Place): void {
  const streams = table.get(connection);
  streams?.delete(number);
  if (streams?.size === 0) table.delete(connection);
}
