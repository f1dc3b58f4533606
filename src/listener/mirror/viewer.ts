/**
 * One phone's stream of a mirror: how it is granted, what it was sent, its flow-control credit, and whether its screen
 * is current; and what else a phone may read over it.
 */
import { isEnough, type Sealing } from "../../crypto/mode.ts";
import { acceptStream, plainChannel, type StreamChannel, type StreamHello } from "../../crypto/stream.ts";
import type { HostKeys } from "../../home/host_sealing.ts";
import type { EventData } from "../../protocol/frames.ts";
import { MIRROR_CREDIT_BYTES, TITLE_MAX_CHARS } from "../../protocol/limits.ts";
import {
  encodeBinaryFrame,
  encodeMirror,
  type MirrorMessage,
  type MirrorStatus,
  PANE_FRAME,
} from "../../protocol/pane_frame.ts";
import { concatBytes } from "../../async/encodings.ts";
import type { Clock } from "../../async/clock.ts";
import { TokenBuckets } from "../../async/token_bucket.ts";
import { errorText } from "../../async/error_text.ts";
import type { Audit } from "../../home/log_files.ts";
import type { ReadInput } from "../../protocol/key_input.ts";
import type { Cards } from "../cards/cards.ts";
import type { KeystrokeStream } from "../keystrokes/keystroke_stream.ts";

/** `hello` goes into `pane.opened`; `reason` into `pane.closed`. */
export type GrantedStream =
  | { kind: "granted"; channel: StreamChannel; hello: StreamHello | undefined }
  | { kind: "refused"; reason: "sealed_required" | "unsealable" };

/** Grants a stream, with no weaker sealing than this host requires. */
export async function grantStream(
  open: EventData<"pane.open">,
  { keys, floor }: {
    keys: Pick<HostKeys, "deviceId" | "secretOf">;
    /** The weakest sealing that the host accepts now. */
    floor: Sealing;
  },
): Promise<GrantedStream> {
  const { publicKey, from = "", agentSessionName } = open;
  const mode = publicKey === undefined ? "off" : open.mode ?? "base";
  if (!isEnough(mode, floor)) return { kind: "refused", reason: "sealed_required" };
  if (publicKey === undefined || mode === "off") {
    return { kind: "granted", channel: plainChannel(), hello: undefined };
  }
  const secret = mode === "psk" ? await keys.secretOf(from) : undefined;
  const parties = { phone: from, listener: keys.deviceId, agentSessionName };
  const accepted = await acceptStream(parties, { hello: { publicKey, mode }, secret });
  return accepted === undefined
    ? { kind: "refused", reason: "unsealable" }
    : { kind: "granted", channel: accepted.channel, hello: accepted.hello };
}

/** Maximum output that waits for a phone. Beyond it the phone gets a new snapshot instead. */
export const BACKLOG_MAX_BYTES = 262_144;
/** Maximum bytes of a message; the rest of a longer snapshot follows as output. */
export const PIECE_MAX_BYTES = 524_288;

export interface ViewerOptions {
  stream: number;
  channel: StreamChannel;
  /** Lines above the screen in the first snapshot. */
  history: number;
  /** Reports that the mirror runs; called once, before anything else. */
  opened(size: Size): void;
  send(frame: Uint8Array): void;
  /** The mirror ended. */
  ended(reason: string): void;
}

export interface Size {
  cols: number;
  rows: number;
}

export class Viewer {
  readonly stream: number;
  /** Lines above the screen in the next snapshot. */
  history: number;
  /** The phone's screen is out of date: it needs a snapshot. */
  isStale = true;
  /** Something was drawn that may look different on the phone: a repaint corrects it. */
  isUnsure = false;
  #options: ViewerOptions;
  #size: Size | undefined;
  #title: string | undefined;
  #credit = MIRROR_CREDIT_BYTES;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isOver = false;

  constructor(options: ViewerOptions) {
    this.#options = options;
    this.stream = options.stream;
    this.history = options.history;
  }

  get canTake(): boolean {
    return this.#credit > 0;
  }

  addCredit(bytes: number): void {
    this.#credit = Math.min(MIRROR_CREDIT_BYTES, this.#credit + bytes);
  }

  /** Sends a whole screen and drops pending output. */
  snapshot(size: Size, bytes: Uint8Array): void {
    this.drop();
    this.isStale = false;
    this.isUnsure = false;
    if (this.#size === undefined) this.#options.opened(size);
    // The size in `pane.opened` is not sealed.
    const isKnown = this.#size === undefined
      ? this.#options.channel.mode === "off"
      : isSame(size, this.#size);
    if (!isKnown) this.#send({ tag: "R", ...size });
    this.#size = size;
    this.#send({ tag: "S", bytes: bytes.subarray(0, PIECE_MAX_BYTES) });
    for (let from = PIECE_MAX_BYTES; from < bytes.length; from += PIECE_MAX_BYTES) {
      this.#send({ tag: "O", bytes: bytes.subarray(from, from + PIECE_MAX_BYTES) });
    }
  }

  /** Output for the next flush; a phone that falls too far behind becomes stale. */
  output(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > BACKLOG_MAX_BYTES) this.fallBehind();
  }

  /** Sends the current screen, painted over what may be wrong. */
  repaint(bytes: Uint8Array): void {
    this.output(bytes);
    this.flush();
    this.isUnsure = false;
  }

  flush(): void {
    if (this.#waiting.length === 0 || !this.canTake) return;
    const bytes = concatBytes(this.#waiting);
    this.drop();
    this.#send({ tag: "O", bytes });
  }

  /** Sends the title if it changed; a phone without a screen gets it with the next one. */
  sendTitle(title: string): void {
    if (title === this.#title || this.#size === undefined) return;
    this.#title = title;
    this.sendStatus({ title: title.slice(0, TITLE_MAX_CHARS) });
  }

  /** Not sent to a phone that has no screen yet. */
  pulse(keystrokes: Pick<KeystrokeStream, "received" | "pulse">): void {
    if (this.#size !== undefined) {
      this.sendStatus({ received: keystrokes.received, pulse: keystrokes.pulse() });
    }
  }

  sendStatus(status: MirrorStatus): void {
    this.#send({ tag: "T", status });
  }

  /** Sends what this phone asked to read, if its pairing's secret has proven it: never in plaintext. */
  async answer(find: () => Promise<MirrorStatus | undefined>): Promise<void> {
    const status = this.#options.channel.mode === "psk" ? await find() : undefined;
    if (status !== undefined) this.sendStatus(status);
  }

  fallBehind(): void {
    this.drop();
    this.isStale = true;
  }

  drop(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Nothing is sent from here on. */
  leave(): void {
    this.#isOver = true;
    this.drop();
  }

  end(reason: string): void {
    if (this.#isOver) return;
    this.leave();
    this.#options.ended(reason);
  }

  /** A frame that cannot be sealed is dropped; the phone notices the gap in the sequence. */
  #send(message: MirrorMessage): void {
    if (this.#isOver) return;
    const bytes = encodeMirror(message);
    this.#credit -= bytes.length;
    const { stream, channel, send } = this.#options;
    void channel.sealer.seal(bytes).then((payload) => {
      if (payload !== undefined && !this.#isOver) {
        send(encodeBinaryFrame({ kind: PANE_FRAME, stream, payload }));
      }
    });
  }
}

export function isSame(one: Size, other: Size): boolean {
  return one.cols === other.cols && one.rows === other.rows;
}

/** Pages of the audit log that a phone reads: each may need the whole file. */
const PAGES = { perSecond: 1, burst: 10 };

export interface Reader {
  session: string;
  /** The phone's device id. */
  phone: string;
}

interface ReadingOptions {
  cards: Pick<Cards, "part">;
  audit: Pick<Audit, "page">;
  clock: Pick<Clock, "elapsed">;
  log(line: string): void;
}

/** What a phone may read over a mirror that its pairing's secret has proven: a card's long request, and the audit log. */
export class Reading {
  readonly #options: ReadingOptions;
  readonly #pages = new TokenBuckets(PAGES);

  constructor(options: ReadingOptions) {
    this.#options = options;
  }

  /** Undefined when the phone has read too much, or the log cannot be read: the phone asks again. Never rejects. */
  async answer(input: ReadInput, reader: Reader): Promise<MirrorStatus | undefined> {
    const { cards, clock } = this.#options;
    if (input.type === "card.part") {
      const part = cards.part(input, reader);
      return part && { part };
    }
    const wait = this.#pages.take(reader.phone, clock.elapsed());
    return wait > 0 ? undefined : await this.#page(input.skip);
  }

  async #page(skip: number): Promise<MirrorStatus | undefined> {
    try {
      return { audit: await this.#options.audit.page(skip) };
    } catch (error) {
      this.#options.log(`the audit log could not be read for a phone: ${errorText(error)}`);
      return undefined;
    }
  }
}
