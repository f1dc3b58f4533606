/** A session that phones watch: its mirror, their keys, and the window's size while one of them has fitted it. */
import { Mutex } from "../../async/mutex.ts";
import { type Clock, delay } from "../../async/clock.ts";
import type { AuditEntry } from "../../home/audit.ts";
import type { EventData, EventName } from "../../protocol/frames.ts";
import type { KeyInput } from "../../protocol/key_input.ts";
import { MIRROR_PULSE_MS } from "../../protocol/limits.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import type { ControlEvents } from "../../tmux/control_client.ts";
import type { InjectHost } from "../inject/inject_host.ts";
import { Keys } from "../keystrokes/keystroke_stream.ts";
import { KeysAudit } from "../keystrokes/keystroke_stream.ts";
import { KeyLimit } from "../keystrokes/keystroke_rules.ts";
import { typeInput } from "../keystrokes/type_keystroke.ts";
import { type MirrorConnection, SessionMirror } from "./session_mirror.ts";
import { fitWindow, unfitWindow } from "./window_size.ts";
import { Viewer } from "./viewer.ts";
import type { GrantedStream } from "../sealing.ts";
import type { Target } from "../targets.ts";

export interface WatchedSessionHost {
  clock: Clock;
  /** A client that gets the output of the target's pane. */
  openMirror(target: Target, events: ControlEvents): MirrorConnection;
  /** The connection that types. */
  server(target: Target): TmuxServer;
  /** Any connection to the target's server. */
  anyServer(socket: string): TmuxServer;
  inject: Pick<InjectHost, "processFacts" | "isMuted" | "isBusy" | "input" | "now" | "typed" | "policy">;
  send<E extends EventName>(event: E, data: EventData<E>): void;
  sendBinary(bytes: Uint8Array): void;
  audit(entry: AuditEntry): void;
  log(line: string): void;
  /** The session's client has ended by itself. */
  ended(): void;
}

export interface Watching {
  open: EventData<"pane.open">;
  granted: Exclude<GrantedStream, { refused: string }>;
  /** Called once when the stream ends on this side. */
  ended(reason: string): void;
}

interface Watcher {
  viewer: Viewer;
  keys: Keys;
  audit: KeysAudit;
}

export class WatchedSession {
  readonly #target: Target;
  readonly #host: WatchedSessionHost;
  readonly #mirror: SessionMirror;
  readonly #limit: KeyLimit;
  readonly #watchers = new Map<number, Watcher>();
  /** The stream whose phone fitted the window. */
  #fitted: number | undefined;
  /** What is done to the window's size, one after the other. */
  readonly #sizing = new Mutex();
  /** Audit lines of those who left. */
  readonly #leaving = new Set<Promise<void>>();
  #cancelPulse: () => void = () => {};

  constructor(target: Target, host: WatchedSessionHost) {
    this.#target = target;
    this.#host = host;
    this.#limit = new KeyLimit(host.clock.elapsed());
    this.#mirror = new SessionMirror({
      pane: target.pane,
      sessionId: target.sessionId,
      clock: host.clock,
      open: (events) => host.openMirror(target, events),
      ended: () => host.ended(),
    });
    this.#size(() => unfitWindow(this.#window()));
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
      opened: (size) => this.#host.send("pane.opened", { stream, ...hello, ...size }),
      send: (frame) => this.#host.sendBinary(frame),
      ended,
    });
    const names = { device: open.sender ?? "", session: this.#target.session, pane: this.#target.pane };
    const audit = new KeysAudit({
      clock: this.#host.clock,
      names,
      record: (entry) => this.#host.audit(entry),
    });
    if (!this.isWatched) this.#pulse();
    this.#watchers.set(stream, { viewer, audit, keys: this.#keys(viewer, { channel, audit }) });
    this.#mirror.add(viewer);
  }

  remove(stream: number): void {
    const watcher = this.#watchers.get(stream);
    if (watcher === undefined) return;
    this.#watchers.delete(stream);
    if (!this.isWatched) this.#cancelPulse();
    watcher.keys.close();
    const leaving = watcher.audit.close();
    this.#leaving.add(leaving);
    void leaving.then(() => this.#leaving.delete(leaving));
    this.#mirror.remove(watcher.viewer);
    if (this.#fitted === stream) this.#unfit();
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
    void this.#watchers.get(stream)?.keys.receive(payload);
  }

  /** Once nobody watches any more, or the session's client has ended. */
  async close(): Promise<void> {
    for (const stream of [...this.#watchers.keys()]) this.remove(stream);
    await this.#mirror.close();
    await this.#sizing.idle();
    await Promise.all(this.#leaving);
  }

  #keys(
    viewer: Viewer,
    { channel, audit }: { channel: Watching["granted"]["channel"]; audit: KeysAudit },
  ): Keys {
    const { inject, clock, log } = this.#host;
    return new Keys({
      opener: channel.opener,
      limit: this.#limit,
      clock,
      type: (input) => {
        this.#mirror.expectEcho();
        const target = this.#target;
        const server = this.#host.server(target);
        const pause = (ms: number): Promise<void> => delay(ms, { clock });
        return typeInput({ target, server, input: inject.input(target), host: inject, pause }, input);
      },
      fit: (input) => this.#fit(viewer, input),
      tell: (keys) => viewer.tell({ keys }),
      audit: (input, outcome) => audit.add(input, outcome),
      end: (reason) => viewer.end(reason),
      dropped: (reason) =>
        log(
          `keys for ${this.#target.session}: a frame was dropped, ${reason}: somebody may stand in between`,
        ),
      failed: (error) => log(`keys for ${this.#target.session}: failed: ${error}`),
    });
  }

  /** By it a phone knows that the host is there and has its keys, whatever is held back on the way. */
  #pulse(): void {
    this.#cancelPulse = this.#host.clock.after(MIRROR_PULSE_MS, () => {
      for (const { viewer, keys } of this.#watchers.values()) viewer.pulse(keys.received);
      this.#pulse();
    });
  }

  #window(): { server: TmuxServer; pane: string } {
    return { server: this.#host.anyServer(this.#target.socket), pane: this.#target.pane };
  }

  async #fit(viewer: Viewer, input: Extract<KeyInput, { type: "fit" | "unfit" }>): Promise<void> {
    if (input.type === "unfit") {
      if (this.#fitted === viewer.stream) this.#unfit();
      return viewer.tell({ fit: "off" });
    }
    this.#size(async () => {
      if (!this.#watchers.has(viewer.stream)) return;
      const isFitted = await fitWindow(this.#window(), input);
      if (isFitted) this.#fitted = viewer.stream;
      viewer.tell({ fit: isFitted ? "on" : "refused" });
      // Left while the window was being fitted.
      if (isFitted && !this.#watchers.has(viewer.stream)) this.#unfit();
    });
    await this.#sizing.idle();
  }

  #unfit(): void {
    this.#fitted = undefined;
    this.#size(() => unfitWindow(this.#window()));
  }

  #size(change: () => Promise<void>): void {
    void this.#sizing.run(() =>
      change().catch((error) =>
        this.#host.log(`window of ${this.#target.session}: size not changed: ${error}`)
      )
    );
  }
}
