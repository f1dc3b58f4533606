/** The phone's end of one mirror: feeds a terminal without gaps, reopens after breaks, and detects tampering. */
import type { Clock } from "../async/clock.ts";
import { backoffDelayMs } from "../client/relay_error.ts";
import type { RelayLink } from "../client/relay_link.ts";
import type { Sealing } from "../crypto/mode.ts";
import type { PhoneHandshake, StreamChannel } from "../crypto/stream.ts";
import type { EventData } from "../protocol/frames.ts";
import {
  encodeKeyInput,
  encodeUpload,
  type KeyInput,
  type ReadInput,
  type UploadInput,
} from "../protocol/key_input.ts";
import { MIRROR_CREDIT_BYTES, MIRROR_SILENT_MS } from "../protocol/limits.ts";
import {
  decodeMirror,
  encodeBinaryFrame,
  KEY_FRAME,
  type MirrorMessage,
  type MirrorStatus,
} from "../protocol/pane_frame.ts";
import type { SessionName } from "./sessions.ts";

/** A mirror that ended is reopened after at most this time. */
export const REOPEN_MAX_MS = 2_000;
/** The stream is opened again if the host has not answered by then. */
export const OPEN_LIMIT_MS = 10_000;
/** Credit is returned in steps of this many shown bytes. */
const CREDIT_STEP_BYTES = MIRROR_CREDIT_BYTES / 4;
/** Bound on frames that arrive before the handshake is done; a host's first credit allows less. */
const EARLY_MAX_BYTES = 4 * MIRROR_CREDIT_BYTES;
/** Ends that reopening cannot fix. */
const LASTING = new Set(["sealed_required", "unsealable", "destroy_unattached"]);

export type TerminalState =
  | { kind: "opening" }
  | { kind: "live"; sealing: Sealing; size: { cols: number; rows: number }; trouble?: Trouble }
  /** `lasting`: it is not reopened. */
  | { kind: "ended"; reason: string; lasting: boolean };

export interface TerminalStreamOptions {
  link: Pick<RelayLink, "send" | "sendBinary">;
  /** Starts a handshake for a sealed stream, one per opening; undefined if the stream cannot be sealed. */
  handshake(): Promise<PhoneHandshake | undefined>;
  /** A number that is unique on this connection. */
  nextStream(): number;
  terminal: FedTerminal;
  clock: Clock;
  random(): number;
  onState(state: TerminalState): void;
  onStatus(status: MirrorStatus): void;
  /** The terminal has changed. `isWhole`: the whole screen was sent, with the lines above it that were requested. */
  onDrawn(isWhole: boolean): void;
  /** Called by `close`. */
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
  readonly #options: TerminalStreamOptions;
  readonly #feed: TerminalFeed;
  #opened: Opened | undefined;
  #state: TerminalState = { kind: "opening" };
  #attempts = 0;
  /** Cancels the timer for the next opening, or for the host's answer. */
  #cancelTimer: () => void = () => {};
  #isClosed = false;
  #typed = 0;
  /** The last pulse that arrived. */
  #pulse = 0;
  /** Frames that arrived during the handshake. */
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  readonly #watch: TerminalWatch;

  constructor(name: SessionName, options: TerminalStreamOptions) {
    this.#name = name;
    this.#options = options;
    this.#watch = new TerminalWatch({ clock: options.clock, changed: () => this.#onTrouble() });
    this.#feed = new TerminalFeed({
      terminal: options.terminal,
      shown: (bytes) => this.#onShown(bytes),
      status: (status) => this.#onStatus(status),
      drawn: (isWhole) => options.onDrawn(isWhole),
    });
  }

  get state(): TerminalState {
    return this.#state;
  }

  /** Call this when the link is up, or to retry. */
  async open(): Promise<void> {
    if (!this.#isClosed) this.#setState({ kind: "opening" });
    await this.#open();
  }

  /** Opens the stream without changing the state: a reported end stays on the screen until the stream is live again. */
  async #open(): Promise<void> {
    this.#leave();
    if (this.#isClosed) return;
    const opened: Opened = {
      stream: this.#options.nextStream(),
      handshake: undefined,
      next: 0n,
      uncredited: 0,
    };
    this.#opened = opened;
    this.#typed = this.#pulse = 0;
    opened.handshake = await this.#options.handshake();
    if (this.#opened !== opened) return;
    this.#cancelTimer = this.#options.clock.after(OPEN_LIMIT_MS, () => this.#onEnded("host_silent"));
    const { deviceId, session } = this.#name;
    this.#options.link.send("pane.open", {
      stream: opened.stream,
      agentSessionName: session,
      ...(deviceId ? { deviceId } : {}),
      ...opened.handshake?.hello,
    });
  }

  /** Call this when the link is lost. Keys without a confirmation may or may not have been typed. */
  lost(): void {
    this.#cancelTimer();
    this.#watch.stop();
    this.#opened = undefined;
    if (this.#state.kind === "live") this.#setState({ kind: "opening" });
  }

  /** Call this when the view is left. */
  close(): void {
    this.#leave();
    this.#isClosed = true;
    this.#options.onClosed?.();
  }

  /** Sends input. Returns the number by which the host will refer to it, or undefined if the stream is not live. */
  type(input: KeyInput): number | undefined {
    const sending = this.#sendSealed(encodeKeyInput({ ...input, pulse: this.#pulse }));
    if (sending !== undefined) this.#feed.expectEcho();
    return sending?.sequence;
  }

  /** Sends a part of a file, or a request to read something. Resolves once it is sent, or cannot be. */
  async upload(input: UploadInput | ReadInput): Promise<void> {
    await this.#sendSealed(encodeUpload(input))?.sent;
  }

  #sendSealed(bytes: Uint8Array): { sequence: number; sent: Promise<void> } | undefined {
    const opened = this.#opened;
    if (opened?.channel === undefined || this.#state.kind !== "live") return undefined;
    const { stream } = opened;
    const sequence = this.#typed++;
    const sent = opened.channel.sealer.seal(bytes).then((payload) => {
      if (payload === undefined || this.#opened !== opened) return;
      this.#options.link.sendBinary(encodeBinaryFrame({ kind: KEY_FRAME, stream, payload }));
    });
    return { sequence, sent };
  }

  /** Requests the screen again, with this many lines above it. */
  scrollback(lines: number): void {
    const { stream } = this.#opened ?? {};
    if (stream !== undefined) this.#options.link.send("pane.scrollback", { stream, lines });
  }

  async onOpened({ stream, cols, rows, ...hello }: EventData<"pane.opened">): Promise<void> {
    const opened = this.#opened;
    if (opened?.stream !== stream || opened.channel !== undefined) return;
    const { plainChannel } = await import("../crypto/stream.ts");
    const channel = opened.handshake ? await opened.handshake.finish(hello) : plainChannel();
    if (this.#opened !== opened) return;
    if (channel === undefined) return this.#onEnded("unsealable");
    opened.channel = channel;
    this.#cancelTimer();
    this.#attempts = 0;
    this.#feed.resize({ cols, rows });
    this.#watch.start();
    this.#setState({ kind: "live", sealing: channel.mode, size: { cols, rows }, ...this.#trouble() });
    for (const payload of this.#early.splice(0)) void this.#onPayload(opened, payload);
  }

  onClosed({ stream, reason }: EventData<"pane.closed">): void {
    if (this.#opened?.stream === stream) this.#onEnded(reason);
  }

  /** Takes the payload of a pane frame. */
  async onBytes(stream: number, payload: Uint8Array): Promise<void> {
    const opened = this.#opened;
    if (opened?.stream !== stream) return;
    if (opened.channel !== undefined) return await this.#onPayload(opened, payload);
    this.#earlyBytes += payload.length;
    if (this.#earlyBytes <= EARLY_MAX_BYTES) this.#early.push(payload);
  }

  async #onPayload(opened: Opened, payload: Uint8Array): Promise<void> {
    const frame = await opened.channel?.opener.open(payload);
    if (frame === undefined || this.#opened !== opened) return;
    if (frame.kind === "broken") return this.#onEnded("unsealable");
    if (frame.kind === "dropped") return this.#watch.tampered();
    // A gap cannot be repaired: reopening starts with a whole screen.
    if (frame.sequence !== opened.next) return this.#onGap();
    opened.next += 1n;
    this.#watch.heard();
    const message = decodeMirror(frame.bytes);
    if (message === undefined) return;
    if (message.tag === "R") this.#onResized(message);
    if (message.tag === "T") this.#pulse = message.status.pulse ?? this.#pulse;
    this.#feed.take(message, frame.bytes.length);
  }

  #onGap(): void {
    this.#watch.tampered();
    void this.open();
  }

  #onStatus(status: MirrorStatus): void {
    const { received, keys } = status;
    if (received !== undefined) this.#watch.pulse({ received, sent: this.#typed });
    if (keys?.reason === "repeated" || keys?.reason === "unsealable") this.#watch.tampered();
    this.#options.onStatus(status);
  }

  #onTrouble(): void {
    if (this.#state.kind !== "live") return;
    const { trouble: _before, ...live } = this.#state;
    this.#setState({ ...live, ...this.#trouble() });
  }

  #trouble(): { trouble?: Trouble } {
    const { trouble } = this.#watch;
    return trouble === undefined ? {} : { trouble };
  }

  #onResized({ cols, rows }: { cols: number; rows: number }): void {
    if (this.#state.kind === "live") this.#setState({ ...this.#state, size: { cols, rows } });
  }

  #onShown(bytes: number): void {
    const opened = this.#opened;
    if (opened === undefined) return;
    opened.uncredited += bytes;
    if (opened.uncredited < CREDIT_STEP_BYTES) return;
    this.#options.link.send("pane.credit", { stream: opened.stream, bytes: opened.uncredited });
    opened.uncredited = 0;
  }

  #onEnded(reason: string): void {
    const lasting = LASTING.has(reason);
    if (reason === "keys_lost") this.#watch.tampered();
    this.#leave();
    this.#setState({ kind: "ended", reason, lasting });
    if (lasting) return;
    const wait = Math.min(REOPEN_MAX_MS, backoffDelayMs(this.#attempts++, this.#options.random()));
    this.#cancelTimer = this.#options.clock.after(wait, () => void this.#open());
  }

  #leave(): void {
    this.#cancelTimer();
    const { stream } = this.#opened ?? {};
    this.#opened = undefined;
    this.#early = [];
    this.#earlyBytes = 0;
    this.#watch.stop();
    if (stream !== undefined) this.#options.link.send("pane.closed", { stream, reason: "left" });
  }

  #setState(state: TerminalState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}

/** The part of a terminal that a mirror needs. Writes are parsed in order, each `done` before the next write. */
interface FedTerminal {
  write(data: string | Uint8Array, done?: () => void): void;
  resize(cols: number, rows: number): void;
  /** After input from the user, a terminal parses the next write at once. */
  input(data: string): void;
}

interface FeedOptions {
  terminal: FedTerminal;
  /** Called when this many bytes were parsed: the mirror may send as many again. */
  shown(bytes: number): void;
  status(status: MirrorStatus): void;
  drawn(isWhole: boolean): void;
}

const RESET = "\u001bc";

class TerminalFeed {
  readonly #options: FeedOptions;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  take(message: MirrorMessage, length: number): void {
    const { terminal, shown, status, drawn } = this.#options;
    const done = (): void => {
      shown(length);
      drawn(message.tag === "S");
    };
    switch (message.tag) {
      case "S":
        terminal.write(RESET);
        return terminal.write(message.bytes, done);
      case "O":
        return terminal.write(message.bytes, done);
      case "R":
        return this.resize(message, () => shown(length));
      case "T":
        shown(length);
        return status(message.status);
    }
  }

  /** Makes the echo of typed keys appear without the usual delay. */
  expectEcho(): void {
    this.#options.terminal.input("");
  }

  /** Queued after earlier writes, because a resize itself takes effect at once. */
  resize({ cols, rows }: { cols: number; rows: number }, done: () => void = () => {}): void {
    const { terminal } = this.#options;
    terminal.write("", () => {
      terminal.resize(cols, rows);
      done();
    });
  }
}

/**
 * `silent`: nothing arrived for too long, not even the pulse. `keys_late`: keys sent before the last pulse had not reached
 * the host at this one. `tampered`: frames were lost, repeated or could not be opened.
 */
export type Trouble = "silent" | "keys_late" | "tampered";

interface TerminalWatchOptions {
  clock: Pick<Clock, "elapsed" | "after">;
  /** Called when `trouble` has changed. */
  changed(): void;
}

/** Detects when someone between host and phone withholds, replays or changes parts of a mirror. */
export class TerminalWatch {
  readonly #options: TerminalWatchOptions;
  #heardAt = 0;
  #isSilent = false;
  #areKeysLate = false;
  /** Stays set, so that the user sees it even if the mirror recovers at once. */
  #isTampered = false;
  #sentAtPulse = 0;
  #cancel: () => void = () => {};

  constructor(options: TerminalWatchOptions) {
    this.#options = options;
  }

  get trouble(): Trouble | undefined {
    if (this.#isSilent) return "silent";
    if (this.#areKeysLate) return "keys_late";
    return this.#isTampered ? "tampered" : undefined;
  }

  /** Call this when the mirror is live. */
  start(): void {
    this.stop();
    this.#heardAt = this.#options.clock.elapsed();
    this.#wait(MIRROR_SILENT_MS);
  }

  /** Call this when the mirror is closed. */
  stop(): void {
    this.#cancel();
    this.#cancel = () => {};
    this.#isSilent = this.#areKeysLate = false;
    this.#sentAtPulse = 0;
  }

  /** Call this when a frame arrived and could be opened. */
  heard(): void {
    this.#heardAt = this.#options.clock.elapsed();
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#wait(MIRROR_SILENT_MS);
    this.#options.changed();
  }

  /** Compares the keystroke frames that the host has received with those sent. */
  pulse({ received, sent }: { received: number; sent: number }): void {
    const areLate = received < this.#sentAtPulse;
    this.#sentAtPulse = sent;
    if (areLate === this.#areKeysLate) return;
    this.#areKeysLate = areLate;
    this.#options.changed();
  }

  tampered(): void {
    if (this.#isTampered) return;
    this.#isTampered = true;
    this.#options.changed();
  }

  #wait(ms: number): void {
    this.#cancel = this.#options.clock.after(ms, () => this.#checkSilence());
  }

  #checkSilence(): void {
    const left = this.#heardAt + MIRROR_SILENT_MS - this.#options.clock.elapsed();
    if (left > 0) return this.#wait(left);
    this.#isSilent = true;
    this.#options.changed();
  }
}
