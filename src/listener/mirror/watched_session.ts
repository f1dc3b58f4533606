/** A session that phones watch: its mirror, their keystrokes, and the window's size while a phone has fitted it. */
import { type Clock, delay } from "../../async/clock.ts";
import { errorText } from "../../async/error_text.ts";
import { Mutex } from "../../async/mutex.ts";
import type { RelayLink } from "../../client/relay_link.ts";
import type { Audit } from "../../home/audit.ts";
import type { EventData } from "../../protocol/frames.ts";
import type { KeyInput } from "../../protocol/key_input.ts";
import { MIRROR_PULSE_MS } from "../../protocol/limits.ts";
import type { ControlEvents } from "../../tmux/control_client.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { paneContext, type TypingContext } from "../inject/context.ts";
import { KeystrokeLimit } from "../keystrokes/keystroke_rules.ts";
import { KeystrokeAudit, KeystrokeStream } from "../keystrokes/keystroke_stream.ts";
import { typeKeystroke } from "../keystrokes/type_keystroke.ts";
import type { GrantedStream } from "../sealing.ts";
import type { Target, Targets } from "../targets.ts";
import { type MirrorConnection, SessionMirror } from "./session_mirror.ts";
import { Viewer } from "./viewer.ts";
import { fitWindow, restoreWindowSize } from "./window_size.ts";

/** What all watched sessions of a listener share. */
export interface MirrorContext {
  targets: Pick<Targets, "resolve" | "server" | "anyServer"> & {
    openMirror(target: Target, events: ControlEvents): MirrorConnection;
  };
  typing: TypingContext;
  link: Pick<RelayLink, "send" | "sendBinary">;
  audit: Pick<Audit, "record">;
  clock: Clock;
  log(line: string): void;
}

export interface Watching {
  open: EventData<"pane.open">;
  granted: Extract<GrantedStream, { kind: "granted" }>;
  /** Called once when the stream ends on this side. */
  ended(reason: string): void;
}

interface Watcher {
  viewer: Viewer;
  keystrokes: KeystrokeStream;
  audit: KeystrokeAudit;
}

export class WatchedSession {
  readonly #target: Target;
  readonly #context: MirrorContext;
  readonly #mirror: SessionMirror;
  readonly #limit: KeystrokeLimit;
  readonly #watchers = new Map<number, Watcher>();
  /** The stream whose phone fitted the window. */
  #fitted: number | undefined;
  /** Changes of the window's size run one at a time. */
  readonly #sizing = new Mutex();
  /** Audit lines of phones that left, until they are written. */
  readonly #leaving = new Set<Promise<void>>();
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
    this.#watchers.set(stream, { viewer, audit, keystrokes: this.#keystrokes(viewer, { channel, audit }) });
    this.#mirror.add(viewer);
  }

  remove(stream: number): void {
    const watcher = this.#watchers.get(stream);
    if (watcher === undefined) return;
    this.#watchers.delete(stream);
    if (!this.isWatched) this.#cancelPulse();
    watcher.keystrokes.close();
    const leaving = watcher.audit.close();
    this.#leaving.add(leaving);
    void leaving.then(() => this.#leaving.delete(leaving));
    this.#mirror.remove(watcher.viewer);
    if (this.#fitted === stream) this.#restoreSize();
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

  /** Called when nobody watches any more, or the session's client has ended. */
  async close(): Promise<void> {
    for (const stream of [...this.#watchers.keys()]) this.remove(stream);
    await this.#mirror.close();
    await this.#sizing.idle();
    await Promise.all(this.#leaving);
  }

  #keystrokes(
    viewer: Viewer,
    { channel, audit }: { channel: Watching["granted"]["channel"]; audit: KeystrokeAudit },
  ): KeystrokeStream {
    const { typing, clock, log } = this.#context;
    const { session } = this.#target;
    const pause = (ms: number): Promise<void> => delay(ms, { clock });
    return new KeystrokeStream({
      opener: channel.opener,
      limit: this.#limit,
      clock,
      type: (input) => {
        this.#mirror.expectEcho();
        return typeKeystroke({ ...paneContext(typing, this.#target), pause }, input);
      },
      fit: (input) => this.#fit(viewer, input),
      sendState: (keys) => viewer.sendStatus({ keys }),
      audit: (input, outcome) => audit.add(input, outcome),
      end: (reason) => viewer.end(reason),
      dropped: (reason) =>
        log(`keys for ${session}: a frame was dropped, ${reason}: it may have been tampered with on the way`),
      failed: (error) => log(`keys for ${session}: failed: ${error}`),
    });
  }

  /** Tells phones regularly that the host is alive and which keystrokes it has received. */
  #pulse(): void {
    this.#cancelPulse = this.#context.clock.after(MIRROR_PULSE_MS, () => {
      for (const { viewer, keystrokes } of this.#watchers.values()) viewer.pulse(keystrokes.received);
      this.#pulse();
    });
  }

  #window(): { server: TmuxServer; pane: string } {
    return { server: this.#context.targets.anyServer(this.#target.socket), pane: this.#target.pane };
  }

  async #fit(viewer: Viewer, input: Extract<KeyInput, { type: "fit" | "unfit" }>): Promise<void> {
    if (input.type === "unfit") {
      if (this.#fitted === viewer.stream) this.#restoreSize();
      return viewer.sendStatus({ fit: "off" });
    }
    this.#size(async () => {
      if (!this.#watchers.has(viewer.stream)) return;
      const isFitted = await fitWindow(this.#window(), input);
      if (isFitted) this.#fitted = viewer.stream;
      viewer.sendStatus({ fit: isFitted ? "on" : "refused" });
      // The phone left while the window was being fitted.
      if (isFitted && !this.#watchers.has(viewer.stream)) this.#restoreSize();
    });
    await this.#sizing.idle();
  }

  #restoreSize(): void {
    this.#fitted = undefined;
    this.#size(() => restoreWindowSize(this.#window()));
  }

  #size(change: () => Promise<void>): void {
    void this.#sizing.run(async () => {
      try {
        await change();
      } catch (error) {
        this.#context.log(`window of ${this.#target.session}: size not changed: ${errorText(error)}`);
      }
    });
  }
}
