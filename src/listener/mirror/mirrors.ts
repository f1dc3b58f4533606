/**
 * Opens and closes streams at the relay's request. All streams of a session share its mirror, a limit for keystrokes, and
 * the window's size while a phone has fitted it.
 */
import type { Clock } from "../../async/clock.ts";
import { errorText } from "../../async/error_text.ts";
import { Mutex } from "../../async/mutex.ts";
import type { RelayLink } from "../../client/relay_link.ts";
import type { Audit } from "../../home/log_files.ts";
import { type GrantedStream, grantStream, type Reader, Viewer } from "./viewer.ts";
import type { Config } from "../../home/config.ts";
import type { HostKeys } from "../../home/host_sealing.ts";
import type { EventData } from "../../protocol/frames.ts";
import type { KeyInput, ReadInput } from "../../protocol/key_input.ts";
import { MIRROR_PULSE_MS } from "../../protocol/limits.ts";
import { decodeBinaryFrame, KEY_FRAME, type MirrorStatus } from "../../protocol/pane_frame.ts";
import type { ControlEvents } from "../../tmux/control_client.ts";
import type { TypingContext } from "../inject/context.ts";
import { KeystrokeLimit } from "../keystrokes/keystroke_rules.ts";
import { KeystrokeAudit, KeystrokeStream } from "../keystrokes/keystroke_stream.ts";
import { type FitTarget, fitWindow, restoreWindowSize, typeInto } from "./act_on_pane.ts";
import type { Target, Targets } from "../targets.ts";
import { type MirrorConnection, SessionMirror } from "./session_mirror.ts";
import type { StreamUploads, UploadStream } from "../uploads.ts";

/** Maximum streams of all phones together. */
export const STREAMS_MAX = 256;
/**
 * How long a session's client stays attached, paused, after its last phone left: many phones come back, and each attach
 * is a moment at which tmux before 3.7 may crash (docs/mirror.md, "When a client attaches").
 */
export const LINGER_MS = 30_000;

export interface MirrorsOptions extends MirrorContext {
  keys: Pick<HostKeys, "deviceId" | "secretOf" | "floor">;
  config: Config;
}

/** Reasons that indicate a phone without the secret, or tampering. */
const SUSPICIOUS: ReadonlySet<string> = new Set(["sealed_required", "unsealable", "keys_lost"]);

interface Stream {
  /** The session's name. */
  name: string;
  /** The device id that the phone claims. */
  phone: string | undefined;
  /** Undefined while it is being opened. */
  session?: WatchedSession;
}

type FoundSession =
  | { kind: "found"; target: Target; granted: Extract<GrantedStream, { kind: "granted" }> }
  | { kind: "refused"; reason: string };

export class Mirrors {
  readonly #options: MirrorsOptions;
  /** By number, from `pane.open` to the end. */
  readonly #streams = new Map<number, Stream>();
  /** By tmux server and session. */
  readonly #sessions = new Map<string, WatchedSession>();
  /** Sessions whose last phone left, and what cancels the wait for its return. */
  readonly #lingering = new Map<WatchedSession, () => void>();
  /** Sessions being closed. */
  readonly #closing = new Set<Promise<void>>();

  constructor(options: MirrorsOptions) {
    this.#options = options;
  }

  async open(open: EventData<"pane.open">): Promise<void> {
    const { stream } = open;
    this.closed(stream);
    if (this.#streams.size >= STREAMS_MAX) return this.#refuse(stream, "too_many_streams");
    const entry: Stream = { name: open.agentSessionName, phone: open.from };
    this.#streams.set(stream, entry);
    const found = await this.#find(open);
    // Closed or reopened since.
    if (this.#streams.get(stream) !== entry) return;
    if (found.kind === "refused") return this.#ended(stream, found.reason);
    const ended = (reason: string): void => this.#ended(stream, reason);
    try {
      entry.session = this.#sessionOf(found.target);
      entry.session.add({ open, granted: found.granted, ended });
    } catch (error) {
      // The machine may have no process or descriptor left for a client.
      this.#options.log(`mirror of ${entry.name}: not opened: ${error}`);
      ended("mirror_lost");
    }
  }

  /** The phone has left. */
  closed(stream: number): void {
    const { session } = this.#streams.get(stream) ?? {};
    this.#streams.delete(stream);
    session?.remove(stream);
    if (session !== undefined) this.#closeUnwatched(session);
  }

  credit({ stream, bytes }: EventData<"pane.credit">): void {
    this.#streams.get(stream)?.session?.credit(stream, bytes);
  }

  scrollback({ stream, lines }: EventData<"pane.scrollback">): void {
    this.#streams.get(stream)?.session?.scrollback(stream, lines);
  }

  /** A binary frame from the relay; ignored if it belongs to no stream. */
  bytes(bytes: Uint8Array): void {
    const frame = decodeBinaryFrame(bytes);
    if (frame?.kind !== KEY_FRAME) return;
    const { session } = this.#streams.get(frame.stream) ?? {};
    // The socket reuses the frame's memory.
    session?.keys(frame.stream, frame.payload.slice());
  }

  /** The phone was revoked: ends its streams, whatever the relay does. */
  revoke(phone: string): void {
    for (const [stream, entry] of [...this.#streams]) {
      if (entry.phone === phone) this.#ended(stream, "revoked");
    }
  }

  /** The link to the relay is gone, and with it every stream. */
  lost(): void {
    for (const stream of [...this.#streams.keys()]) this.closed(stream);
  }

  /** Resolves once all clients are detached and all window sizes are restored. */
  async close(): Promise<void> {
    this.lost();
    for (const session of [...this.#lingering.keys()]) this.#drop(session);
    await Promise.all(this.#closing);
  }

  async #find(open: EventData<"pane.open">): Promise<FoundSession> {
    try {
      const resolved = await this.#options.targets.resolve(open.agentSessionName);
      if (resolved.kind === "refused") return resolved;
      if (resolved.target.spawnOnly) return { kind: "refused", reason: "destroy_unattached" };
      const { keys, config } = this.#options;
      const granted = await grantStream(open, { keys, floor: await keys.floor(config) });
      if (granted.kind === "refused") return granted;
      await this.#options.targets.whenCalm();
      return { ...resolved, granted };
    } catch (error) {
      this.#options.log(`mirror of ${open.agentSessionName}: not opened: ${error}`);
      return { kind: "refused", reason: "mirror_lost" };
    }
  }

  #sessionOf(target: Target): WatchedSession {
    const key = `${target.socket}\n${target.sessionId}\n${target.pane}`;
    const known = this.#sessions.get(key);
    if (known !== undefined) {
      this.#stay(known);
      return known;
    }
    const session = new WatchedSession(target, { ...this.#options, ended: () => this.#drop(session) });
    this.#sessions.set(key, session);
    return session;
  }

  #ended(stream: number, reason: string): void {
    const { session, name = "", phone } = this.#streams.get(stream) ?? {};
    this.#streams.delete(stream);
    session?.remove(stream);
    this.#refuse(stream, reason);
    if (SUSPICIOUS.has(reason)) {
      this.#options.log(`mirror of ${name} for ${phone ?? "an unnamed phone"}: ${reason}`);
    }
    if (session !== undefined) this.#closeUnwatched(session);
  }

  #closeUnwatched(session: WatchedSession): void {
    if (session.isWatched || this.#lingering.has(session)) return;
    this.#lingering.set(session, this.#options.clock.after(LINGER_MS, () => this.#drop(session)));
  }

  #stay(session: WatchedSession): void {
    this.#lingering.get(session)?.();
    this.#lingering.delete(session);
  }

  #drop(session: WatchedSession): void {
    this.#stay(session);
    for (const [key, known] of this.#sessions) if (known === session) this.#sessions.delete(key);
    const closing = session.close().catch((error) =>
      this.#options.log(`mirror: could not be closed: ${errorText(error)}`)
    );
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }

  #refuse(stream: number, reason: string): void {
    void this.#options.link.send("pane.closed", { stream, reason });
  }
}

/** What all watched sessions of a listener share. */
interface MirrorContext {
  targets: Pick<Targets, "resolve" | "current" | "server" | "anyServer" | "whenCalm"> & {
    openMirror(target: Target, events: ControlEvents): MirrorConnection;
  };
  typing: TypingContext;
  link: Pick<RelayLink, "send" | "sendBinary">;
  audit: Pick<Audit, "record">;
  uploads: { ofStream(stream: UploadStream): Pick<StreamUploads, "take" | "close"> };
  /** What a phone asks to read; undefined when it has read too much. Never rejects. */
  read(input: ReadInput, reader: Reader): Promise<MirrorStatus | undefined>;
  clock: Clock;
  log(line: string): void;
}

interface Watching {
  open: EventData<"pane.open">;
  granted: Extract<GrantedStream, { kind: "granted" }>;
  /** Called once when the stream ends on this side. */
  ended(reason: string): void;
}

interface Sealed extends Pick<Watching["granted"], "channel"> {
  read(input: ReadInput): void;
}

interface Watcher {
  viewer: Viewer;
  uploads: Pick<StreamUploads, "take" | "close">;
  keystrokes: KeystrokeStream;
  audit: KeystrokeAudit;
}

/** A session that phones watch. */
class WatchedSession {
  #target: Target;
  readonly #context: MirrorContext;
  readonly #mirror: SessionMirror;
  readonly #limit: KeystrokeLimit;
  readonly #watchers = new Map<number, Watcher>();
  /** The stream whose phone fitted a window, and the window's id: the pane may have left it since. */
  #fitted: { stream: number; window: string } | undefined;
  /** Changes of the window's size run one at a time. */
  readonly #sizing = new Mutex();
  /** Audit lines of phones that left, until they are written. */
  readonly #leaving = new Set<Promise<unknown>>();
  #cancelPulse: () => void = () => {};

  /** `ended` is called when the session's client ends by itself. */
  constructor(target: Target, context: MirrorContext & { ended(): void }) {
    this.#target = target;
    this.#context = context;
    this.#limit = new KeystrokeLimit(context.clock.elapsed());
    this.#mirror = new SessionMirror({
      pane: target.pane,
      sessionId: target.sessionId,
      clock: context.clock,
      open: (events) => context.targets.openMirror(target, events),
      ended: () => context.ended(),
    });
    this.#size(() => restoreWindowSize(this.#window()));
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  add({ open, granted, ended }: Watching): void {
    const { stream } = open;
    const { channel, hello } = granted;
    const viewer = new Viewer({
      stream,
      channel,
      history: 0,
      opened: (size) => void this.#context.link.send("pane.opened", { stream, ...hello, ...size }),
      send: (frame) => void this.#context.link.sendBinary(frame),
      ended,
    });
    const names = { device: open.sender ?? "", session: this.#target.session, pane: this.#target.pane };
    const audit = new KeystrokeAudit({
      clock: this.#context.clock,
      names,
      record: (entry) => this.#context.audit.record(entry),
    });
    if (!this.isWatched) this.#pulse();
    const uploads = this.#context.uploads.ofStream({
      isProven: channel.mode === "psk",
      phone: open.from ?? "",
      names,
      answer: (upload) => viewer.sendStatus({ upload }),
    });
    const of = { session: open.agentSessionName, phone: open.from ?? "" };
    const read = (input: ReadInput): void => void viewer.answer(() => this.#context.read(input, of));
    const keystrokes = this.#keystrokes(viewer, { channel, audit, uploads, read });
    this.#watchers.set(stream, { viewer, audit, uploads, keystrokes });
    this.#mirror.add(viewer);
  }

  remove(stream: number): void {
    const watcher = this.#watchers.get(stream);
    if (watcher === undefined) return;
    this.#watchers.delete(stream);
    if (!this.isWatched) this.#cancelPulse();
    watcher.keystrokes.close();
    const leaving = Promise.all([watcher.audit.close(), watcher.uploads.close()]);
    this.#leaving.add(leaving);
    void leaving.then(() => this.#leaving.delete(leaving));
    this.#mirror.remove(watcher.viewer);
    if (this.#fitted?.stream === stream) this.#restoreSize();
  }

  credit(stream: number, bytes: number): void {
    const watcher = this.#watchers.get(stream);
    if (watcher !== undefined) this.#mirror.credit(watcher.viewer, bytes);
  }

  scrollback(stream: number, lines: number): void {
    const watcher = this.#watchers.get(stream);
    if (watcher !== undefined) this.#mirror.scrollback(watcher.viewer, lines);
  }

  keys(stream: number, payload: Uint8Array): void {
    void this.#watchers.get(stream)?.keystrokes.receive(payload);
  }

  /** Called when no phone watches anymore, or the session's client has ended. */
  async close(): Promise<void> {
    for (const stream of [...this.#watchers.keys()]) this.remove(stream);
    await this.#mirror.close();
    await this.#sizing.idle();
    await Promise.all(this.#leaving);
  }

  #keystrokes(
    viewer: Viewer,
    { channel, audit, uploads, read }: Omit<Watcher, "viewer" | "keystrokes"> & Sealed,
  ): KeystrokeStream {
    const { targets, typing, clock, log } = this.#context;
    const note = (what: string): void => log(`keys for ${this.#target.session}: ${what}`);
    return new KeystrokeStream({
      opener: channel.opener,
      limit: this.#limit,
      clock,
      type: async (input, wait) => {
        this.#mirror.expectEcho();
        const typed = await typeInto({ target: this.#target, targets, typing, clock, wait }, input);
        this.#target = typed.target;
        return typed.outcome;
      },
      fit: (input) => this.#fit(viewer, input),
      upload: (input) => void uploads.take(input),
      read,
      sendState: (keys) => viewer.sendStatus({ keys }),
      audit: (input, outcome) => audit.add(input, outcome),
      end: (reason) => viewer.end(reason),
      dropped: (reason) => note(`a frame was dropped, ${reason}: it may have been tampered with on the way`),
      failed: (error) => note(`failed: ${error}`),
    });
  }

  /** Reports to phones regularly that the host is alive and which keystrokes it has received. */
  #pulse(): void {
    this.#cancelPulse = this.#context.clock.after(MIRROR_PULSE_MS, () => {
      for (const { viewer, keystrokes } of this.#watchers.values()) viewer.pulse(keystrokes);
      this.#pulse();
    });
  }

  #window(target = this.#target.pane): FitTarget {
    return { server: this.#context.targets.anyServer(this.#target.socket), target };
  }

  async #fit(viewer: Viewer, input: Extract<KeyInput, { type: "fit" | "unfit" }>): Promise<void> {
    if (input.type === "unfit") {
      if (this.#fitted?.stream === viewer.stream) this.#restoreSize();
      return viewer.sendStatus({ fit: "off" });
    }
    this.#size(async () => {
      if (!this.#watchers.has(viewer.stream)) return;
      const window = await fitWindow(this.#window(), input);
      if (window === undefined) return viewer.sendStatus({ fit: "refused" });
      const { stream } = this.#fitted ?? viewer;
      if (window !== this.#fitted?.window) this.#restoreSize();
      this.#fitted = { stream: viewer.stream, window };
      if (stream !== viewer.stream) this.#watchers.get(stream)?.viewer.sendStatus({ fit: "off" });
      viewer.sendStatus({ fit: "on" });
      // The phone left while the window was being fitted.
      if (!this.#watchers.has(viewer.stream)) this.#restoreSize();
    });
    await this.#sizing.idle();
  }

  #restoreSize(): void {
    const { window } = this.#fitted ?? {};
    this.#fitted = undefined;
    if (window === undefined) return;
    // Another phone may have fitted it meanwhile.
    this.#size(async () => this.#fitted?.window !== window && await restoreWindowSize(this.#window(window)));
  }

  #size(change: () => Promise<unknown>): void {
    void this.#sizing.run(async () => {
      try {
        await change();
      } catch (error) {
        this.#context.log(`window of ${this.#target.session}: size not changed: ${errorText(error)}`);
      }
    });
  }
}
