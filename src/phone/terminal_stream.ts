/** One mirror as the phone holds it: opened, followed without gap or repeat, opened anew after every break. */
import { backoffDelayMs } from "../client/backoff.ts";
import type { Clock } from "../async/clock.ts";
import type { Sealing } from "../crypto/mode.ts";
import { type PhoneHandshake, plainChannel, type StreamChannel } from "../crypto/stream.ts";
import type { EventData, EventName } from "../protocol/frames.ts";
import { encodeKeyInput, type KeyInput } from "../protocol/key_input.ts";
import { MIRROR_CREDIT_BYTES } from "../protocol/limits.ts";
import { decodeMirror, encodeBinaryFrame, KEY_FRAME, type MirrorStatus } from "../protocol/pane_frame.ts";
import type { SessionName } from "./names.ts";
import { type FedTerminal, TerminalFeed } from "./terminal_feed.ts";
import { TerminalWatch, type Trouble } from "./terminal_watch.ts";

/** A mirror that ended is asked for again after at most this time. */
export const REOPEN_MAX_MS = 2_000;
/** Shown bytes are reported when so many have gathered. */
const CREDIT_STEP_BYTES = MIRROR_CREDIT_BYTES / 4;
/** Of frames that come before their mirror was granted; what a host sends by its first credit is less. */
const EARLY_MAX_BYTES = 4 * MIRROR_CREDIT_BYTES;
/** Ends that asking again does not mend. */
const LASTING = new Set(["sealed_required", "unsealable", "destroy_unattached"]);

export type TerminalState =
  | { kind: "opening" }
  | { kind: "live"; sealing: Sealing; size: { cols: number; rows: number }; trouble?: Trouble }
  /** `lasting`: it is not asked for again. */
  | { kind: "ended"; reason: string; lasting: boolean };

export interface TerminalStreamHost {
  /** False when there is no link. */
  send<E extends EventName>(event: E, data: EventData<E>): boolean;
  sendBinary(bytes: Uint8Array): boolean;
  /** Begins a sealed stream; undefined where none is to be had. Each opening has its own. */
  handshake(): Promise<PhoneHandshake | undefined>;
  /** A number that no other stream of this connection has or had. */
  nextStream(): number;
  terminal: FedTerminal;
  clock: Clock;
  random(): number;
  onState(state: TerminalState): void;
  onStatus(status: MirrorStatus): void;
  /** Something was drawn. */
  onDrawn(): void;
  /** It was closed, and will not come back. */
  onClosed?(): void;
}

interface Opened {
  stream: number;
  handshake: PhoneHandshake | undefined;
  channel?: StreamChannel;
  next: bigint;
  uncredited: number;
}

export class TerminalStream {
  readonly #name: SessionName;
  readonly #host: TerminalStreamHost;
  readonly #feed: TerminalFeed;
  #opened: Opened | undefined;
  #state: TerminalState = { kind: "opening" };
  #attempts = 0;
  #cancelRetry: () => void = () => {};
  #isClosed = false;
  #typed = 0;
  /** Frames that came while the answer's keys were worked on. */
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  readonly #watch: TerminalWatch;

  constructor(name: SessionName, host: TerminalStreamHost) {
    this.#name = name;
    this.#host = host;
    this.#watch = new TerminalWatch({ clock: host.clock, changed: () => this.#troubled() });
    this.#feed = new TerminalFeed({
      terminal: host.terminal,
      shown: (bytes) => this.#shown(bytes),
      status: (status) => this.#status(status),
      drawn: () => host.onDrawn(),
    });
  }

  get state(): TerminalState {
    return this.#state;
  }

  /** Call it when the link is there, and when there is hope again. */
  async open(): Promise<void> {
    this.#leave();
    if (this.#isClosed) return;
    this.#setState({ kind: "opening" });
    const opened: Opened = { stream: this.#host.nextStream(), handshake: undefined, next: 0n, uncredited: 0 };
    this.#opened = opened;
    this.#typed = 0;
    opened.handshake = await this.#host.handshake();
    if (this.#opened !== opened) return;
    const { deviceId, session } = this.#name;
    this.#host.send("pane.open", {
      stream: opened.stream,
      agentSessionName: session,
      ...(deviceId ? { deviceId } : {}),
      ...opened.handshake?.hello,
    });
  }

  /** The link is gone: what was sent and not confirmed may or may not have been typed. */
  lost(): void {
    this.#cancelRetry();
    this.#watch.stop();
    this.#opened = undefined;
    if (this.#state.kind === "live") this.#setState({ kind: "opening" });
  }

  /** The view is left. */
  close(): void {
    this.#leave();
    this.#isClosed = true;
    this.#host.onClosed?.();
  }

  /** The number under which the host will speak of this input; undefined when the stream does not stand, and nothing was sent. */
  type(input: KeyInput): number | undefined {
    const opened = this.#opened;
    if (opened?.channel === undefined || this.#state.kind !== "live") return undefined;
    const { stream } = opened;
    const sequence = this.#typed++;
    this.#feed.expectEcho();
    void opened.channel.sealer.seal(encodeKeyInput(input)).then((payload) => {
      if (payload === undefined || this.#opened !== opened) return;
      this.#host.sendBinary(encodeBinaryFrame({ kind: KEY_FRAME, stream, payload }));
    });
    return sequence;
  }

  /** Asks for the screen anew, with so many lines above it. */
  scrollback(lines: number): void {
    const { stream } = this.#opened ?? {};
    if (stream !== undefined) this.#host.send("pane.scrollback", { stream, lines });
  }

  async onOpened({ stream, cols, rows, ...hello }: EventData<"pane.opened">): Promise<void> {
    const opened = this.#opened;
    if (opened?.stream !== stream || opened.channel !== undefined) return;
    const channel = opened.handshake ? await opened.handshake.finish(hello) : plainChannel();
    if (this.#opened !== opened) return;
    if (channel === undefined) return this.#ended("unsealable");
    opened.channel = channel;
    this.#attempts = 0;
    this.#feed.resize({ cols, rows });
    this.#watch.start();
    this.#setState({ kind: "live", sealing: channel.mode, size: { cols, rows }, ...this.#trouble() });
    for (const payload of this.#early.splice(0)) void this.#take(opened, payload);
  }

  onClosed({ stream, reason }: EventData<"pane.closed">): void {
    if (this.#opened?.stream === stream) this.#ended(reason);
  }

  /** The payload of a pane frame. */
  async onBytes(stream: number, payload: Uint8Array): Promise<void> {
    const opened = this.#opened;
    if (opened?.stream !== stream) return;
    if (opened.channel !== undefined) return await this.#take(opened, payload);
    this.#earlyBytes += payload.length;
    if (this.#earlyBytes <= EARLY_MAX_BYTES) this.#early.push(payload);
  }

  async #take(opened: Opened, payload: Uint8Array): Promise<void> {
    const frame = await opened.channel?.opener.open(payload);
    if (frame === undefined || this.#opened !== opened) return;
    if (frame.kind === "broken") return this.#ended("unsealable");
    if (frame.kind === "dropped") return this.#watch.meddled();
    // What is missing cannot be made up: the next opening begins with a whole screen.
    if (frame.sequence !== opened.next) return this.#missed();
    opened.next += 1n;
    this.#watch.heard();
    const message = decodeMirror(frame.bytes);
    if (message === undefined) return;
    if (message.tag === "R") this.#resized(message);
    this.#feed.take(message, frame.bytes.length);
  }

  #missed(): void {
    this.#watch.meddled();
    void this.open();
  }

  #status(status: MirrorStatus): void {
    const { received, keys } = status;
    if (received !== undefined) this.#watch.pulse({ received, typed: this.#typed });
    if (keys?.reason === "repeated" || keys?.reason === "unsealable") this.#watch.meddled();
    this.#host.onStatus(status);
  }

  #troubled(): void {
    if (this.#state.kind !== "live") return;
    const { trouble: _before, ...live } = this.#state;
    this.#setState({ ...live, ...this.#trouble() });
  }

  #trouble(): { trouble?: Trouble } {
    const { trouble } = this.#watch;
    return trouble === undefined ? {} : { trouble };
  }

  #resized({ cols, rows }: { cols: number; rows: number }): void {
    if (this.#state.kind === "live") this.#setState({ ...this.#state, size: { cols, rows } });
  }

  #shown(bytes: number): void {
    const opened = this.#opened;
    if (opened === undefined) return;
    opened.uncredited += bytes;
    if (opened.uncredited < CREDIT_STEP_BYTES) return;
    this.#host.send("pane.credit", { stream: opened.stream, bytes: opened.uncredited });
    opened.uncredited = 0;
  }

  #ended(reason: string): void {
    const lasting = LASTING.has(reason);
    if (reason === "keys_lost") this.#watch.meddled();
    this.#leave();
    this.#setState({ kind: "ended", reason, lasting });
    if (lasting) return;
    const wait = Math.min(REOPEN_MAX_MS, backoffDelayMs(this.#attempts++, this.#host.random()));
    this.#cancelRetry = this.#host.clock.after(wait, () => void this.open());
  }

  #leave(): void {
    this.#cancelRetry();
    const { stream } = this.#opened ?? {};
    this.#opened = undefined;
    this.#early = [];
    this.#earlyBytes = 0;
    this.#watch.stop();
    if (stream !== undefined) this.#host.send("pane.closed", { stream, reason: "left" });
  }

  #setState(state: TerminalState): void {
    this.#state = state;
    this.#host.onState(state);
  }
}
