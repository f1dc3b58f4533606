/** A session's mirror: one control-mode client for all phones that watch it. */
import type { Clock } from "../../async/clock.ts";
import { verbs } from "../../tmux/argv.ts";
import type { ControlAnswer, ControlClient, ControlEvents } from "../../tmux/control_client.ts";
import { OutputFilter } from "../../tmux/mirror_filter.ts";
import {
  drawsLines,
  paintAnew,
  paintOver,
  parseSnapshot,
  type Snapshot,
  snapshotCommands,
} from "../../tmux/mirror_snapshot.ts";
import { TmuxError } from "../../tmux/server.ts";
import { isSame, type Size, type Viewer } from "./viewer.ts";

/** Output is sent at once after a pause or a keystroke, and then batched for this long: one frame of a display. */
export const FRAME_MS = 16;
/** After this long without output the screen is quiet, and doubtful output is repainted. */
export const QUIET_MS = 300;
/** The same for a screen that is never quiet. */
export const UNSURE_MAX_MS = 1_000;

/**
 * tmux notifies within a second when one of these changes: the panes, their processes, whether they are dead, and the
 * title.
 */
const PANES_FORMAT = "#{W:#{P:#{pane_id} #{pane_pid} #{pane_dead};}}";
const TITLE_FORMAT = "#{pane_title}";
/** Reported when panes or windows change, or leave the session: this pane may be one of them. */
const CHANGES: ReadonlySet<string> = new Set([
  "%layout-change",
  "%window-close",
  "%unlinked-window-close",
  "%session-window-changed",
]);

/** The part of a control client that a mirror uses. */
export type MirrorConnection = Pick<ControlClient, "request" | "close">;

export interface MirrorOptions {
  pane: string;
  sessionId: string;
  clock: Pick<Clock, "elapsed" | "after">;
  open(events: ControlEvents): MirrorConnection;
  /** Called when the client ended and all streams were ended. */
  ended(): void;
}

/**
 * The client is always read. While no phone has credit, or during a flood, tmux pauses its output, which drops it and
 * never blocks the program; a snapshot follows.
 */
export class SessionMirror {
  readonly #options: MirrorOptions;
  readonly #client: MirrorConnection;
  readonly #viewers = new Set<Viewer>();
  readonly #filter = new OutputFilter();
  readonly #flood = new FloodMeter();
  #size: Size | undefined;
  /** The pane's process and whether it is dead, as in PANES_FORMAT. */
  #process = "";
  /** Counts the pauses: a snapshot requested before a pause is useless after it. */
  #pauses = 0;
  #isPaused = false;
  #isResting = false;
  #isRequesting = false;
  /** How long the last snapshot took tmux and this process. */
  #snapshotMs = 0;
  #mustRefresh = false;
  #isOver = false;
  #flushedAt = -Infinity;
  /** When pending output is sent. */
  #flushAt = Infinity;
  #expectsEcho = false;
  #outputAt = 0;
  #unsureAt: number | undefined;
  #quietDue = false;
  readonly #cancels = new Set<() => void>();

  constructor(options: MirrorOptions) {
    this.#options = options;
    const { pane } = options;
    this.#client = options.open({
      output: (bytes) => this.#output(bytes),
      otherOutput: (length) => this.#measure(length),
      notified: (line) => this.#notified(line),
      ended: () => this.#end("mirror_lost"),
    });
    // Before the first snapshot, which is of this process or a later one.
    this.#client.request([verbs.print(pane, "#{window_id} #{pane_pid} #{pane_dead}")], (answer) => {
      if (answer instanceof TmuxError) return;
      const [window = "", ...process] = (answer[0] ?? "").split(" ");
      this.#process = process.join(" ");
      this.#subscribe(window);
    });
  }

  /**
   * Nothing is subscribed for the session itself: tmux 3.3a crashes when it looks for changes of a session that has ended
   * while its client reads nothing.
   */
  #subscribe(window: string): void {
    this.#client.request([
      verbs.subscribe("svc-panes", { what: window, format: PANES_FORMAT }),
      verbs.subscribe("svc-title", { what: this.#options.pane, format: TITLE_FORMAT }),
    ], () => {});
  }

  get isWatched(): boolean {
    return this.#viewers.size > 0;
  }

  add(viewer: Viewer): void {
    if (this.#isOver) return viewer.end("mirror_lost");
    this.#viewers.add(viewer);
    this.#refresh();
  }

  remove(viewer: Viewer): void {
    viewer.leave();
    this.#viewers.delete(viewer);
  }

  credit(viewer: Viewer, bytes: number): void {
    viewer.addCredit(bytes);
    if (viewer.isStale) this.#refresh();
    else viewer.flush();
  }

  /** A phone types: the next output is sent at once. */
  expectEcho(): void {
    this.#expectsEcho = true;
  }

  /** Sends a new snapshot with this many lines above the screen. */
  scrollback(viewer: Viewer, lines: number): void {
    viewer.history = lines;
    viewer.fallBehind();
    this.#refresh();
  }

  async close(): Promise<void> {
    this.#stop();
    for (const viewer of this.#viewers) viewer.leave();
    await this.#client.close();
  }

  #output(bytes: Uint8Array): void {
    if (this.#isPaused || this.#measure(bytes.length)) return;
    const live = [...this.#viewers].filter(({ isStale }) => !isStale);
    if (live.length === 0) {
      this.#filter.forget();
      if (![...this.#viewers].some(({ canTake }) => canTake)) this.#pause();
      return;
    }
    const shown = this.#filter.pass(bytes);
    const doubt = this.#filter.takeDoubt();
    for (const viewer of live) {
      viewer.output(shown);
      viewer.isUnsure ||= doubt === "unsure";
      if (doubt === "lost") viewer.fallBehind();
    }
    this.#outputAt = this.#options.clock.elapsed();
    this.#flushSoon();
    if (doubt === "unsure") this.#repaintLater();
    if (live.some(({ isStale }) => isStale)) this.#refresh();
  }

  /** True if it is a flood; its output is then paused for a moment. */
  #measure(bytes: number): boolean {
    if (this.#isPaused || !this.#flood.isFlood(bytes, this.#options.clock.elapsed())) return false;
    this.#pause();
    this.#isResting = true;
    const rest = Math.max(FLOOD_REST_MS, REST_TIMES * this.#snapshotMs);
    this.#after(Math.min(rest, FLOOD_REST_MAX_MS), () => {
      this.#isResting = false;
      this.#refresh();
    });
    return true;
  }

  #pause(): void {
    this.#isPaused = true;
    this.#pauses += 1;
    this.#filter.forget();
    for (const viewer of this.#viewers) viewer.fallBehind();
    this.#client.request([verbs.paneOutput(this.#options.pane, "pause")], (answer) => {
      if (answer instanceof Error) this.#end("mirror_lost");
    });
  }

  /** Requests a snapshot if a phone needs one and has credit. */
  #refresh(): void {
    if (this.#isRequesting || this.#isResting || this.#isOver) return;
    const wanting = [...this.#viewers].filter(({ isStale, canTake }) => isStale && canTake);
    if (wanting.length === 0 && !(this.#mustRefresh && !this.#isPaused)) return;
    const { pane, sessionId } = this.#options;
    const resumed = this.#isPaused ? [verbs.paneOutput(pane, "continue")] : [];
    const before = [...resumed, verbs.listSessionPanes(sessionId, "#{pane_id}")];
    if (this.#isPaused) this.#flood.rested(this.#options.clock.elapsed());
    this.#isPaused = false;
    this.#isRequesting = true;
    this.#mustRefresh = false;
    const { pauses, skipped } = { pauses: this.#pauses, skipped: before.length };
    const history = Math.max(0, ...wanting.map((viewer) => viewer.history));
    const begun = this.#options.clock.elapsed();
    this.#client.request([...before, ...snapshotCommands(pane, { history })], (answer) => {
      this.#isRequesting = false;
      if (pauses === this.#pauses) this.#took(answer, { skipped, requested: history });
      this.#snapshotMs = this.#options.clock.elapsed() - begun;
      this.#refresh();
    });
  }

  /** Must not await anything: the output that follows belongs after this snapshot. */
  #took(answer: ControlAnswer, { skipped, requested }: { skipped: number; requested: number }): void {
    if (this.#isOver) return;
    const { pane } = this.#options;
    // A pane that was moved to another session can still be captured, but this client gets no output from it.
    const isHere = !(answer instanceof Error) && answer[skipped - 1]?.split("\n").includes(pane);
    const snapshot = isHere ? parseSnapshot(pane, answer.slice(skipped)) : undefined;
    if (snapshot === undefined) return this.#end("pane_gone");
    const { cols, rows, title, switchesScreen } = snapshot.facts;
    this.#filter.keepsScreen = !switchesScreen;
    this.#filter.countMax = Math.max(cols, rows);
    const isNewSize = this.#size === undefined || !isSame(this.#size, { cols, rows });
    this.#size = { cols, rows };
    if (isNewSize) { for (const viewer of this.#viewers) viewer.fallBehind(); }
    this.#show(snapshot, requested);
    this.#sendTitle(title);
  }

  /**
   * `requested`: the lines above the screen that were requested. A viewer that has asked for more since stays stale.
   */
  #show(snapshot: Snapshot, requested: number): void {
    const { cols, rows } = snapshot.facts;
    const { modes } = snapshot.facts;
    this.#filter.resume(snapshot.pending, { isOdd: modes.insert || modes.origin || !modes.wrap });
    this.#filter.sawScreen({ drawsLines: snapshot.screen.some(drawsLines) });
    const pen = this.#filter.penSequences();
    for (const viewer of this.#viewers) {
      if (viewer.isStale && viewer.canTake && viewer.history <= requested) {
        const history = viewer.history > 0 ? snapshot.history : [];
        viewer.history = 0;
        viewer.snapshot({ cols, rows }, paintAnew({ ...snapshot, history }, { pen }));
      } else if (viewer.isUnsure && !viewer.isStale) {
        viewer.repaint(paintOver(snapshot, { pen }));
      }
    }
  }

  #sendTitle(title: string): void {
    for (const viewer of this.#viewers) viewer.sendTitle(title);
  }

  #flushSoon(): void {
    const now = this.#options.clock.elapsed();
    const at = this.#expectsEcho ? now : Math.max(now, this.#flushedAt + FRAME_MS);
    this.#expectsEcho = false;
    if (at >= this.#flushAt) return;
    this.#flushAt = at;
    const flush = (): void => {
      if (this.#flushAt !== at) return;
      this.#flushAt = Infinity;
      this.#flushedAt = this.#options.clock.elapsed();
      for (const viewer of this.#viewers) viewer.flush();
    };
    if (at === now) queueMicrotask(flush);
    else this.#after(at - now, flush);
  }

  #repaintLater(): void {
    this.#unsureAt ??= this.#outputAt;
    if (!this.#quietDue) this.#waitForQuiet(QUIET_MS);
  }

  #waitForQuiet(ms: number): void {
    this.#quietDue = true;
    this.#after(ms, () => {
      const now = this.#options.clock.elapsed();
      const [calm, unsure] = [now - this.#outputAt, now - (this.#unsureAt ?? now)];
      if (calm < QUIET_MS && unsure < UNSURE_MAX_MS) return this.#waitForQuiet(QUIET_MS - calm);
      this.#quietDue = false;
      this.#unsureAt = undefined;
      this.#refreshAll();
    });
  }

  #notified(line: string): void {
    const [event, ...words] = line.split(" ");
    const { sessionId } = this.#options;
    if (event === "%session-renamed" && words[0] === sessionId) this.#end("session_renamed");
    else if (event === "%session-changed" && words[0] !== sessionId) this.#end("session_ended");
    else if (CHANGES.has(event ?? "")) this.#refreshAll();
    else if (event === "%subscription-changed") this.#changed(line);
  }

  #changed(line: string): void {
    const value = line.slice(line.indexOf(" : ") + 3);
    if (line.startsWith("%subscription-changed svc-title ")) return this.#sendTitle(value);
    const own = `${this.#options.pane} `;
    const process = value.split(";").find((pane) => pane.startsWith(own))?.slice(own.length);
    if (process !== undefined && process !== this.#process) this.#processChanged(process);
    this.#refreshAll();
  }

  /** tmux writes that a pane died onto its screen, and resets the screen of one that is respawned, without program output. */
  #processChanged(process: string): void {
    this.#process = process;
    this.#filter.forget();
    for (const viewer of this.#viewers) viewer.fallBehind();
  }

  /** Requests a snapshot, since the size may have changed or the pane may be gone. */
  #refreshAll(): void {
    this.#mustRefresh = true;
    this.#refresh();
  }

  #after(ms: number, action: () => void): void {
    const cancel = this.#options.clock.after(ms, () => {
      this.#cancels.delete(cancel);
      if (!this.#isOver) action();
    });
    this.#cancels.add(cancel);
  }

  #stop(): void {
    this.#isOver = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#stop();
    for (const viewer of this.#viewers) viewer.end(reason);
    this.#options.ended();
  }
}

/** Output within FLOOD_WINDOW_MS that counts as a flood: nobody can read it, and forwarding it would slow the program down. */
export const FLOOD_BYTES = 65_536;
/** The same during a flood, so that less of it is forwarded. */
export const FLOODING_BYTES = 8_192;
export const FLOOD_WINDOW_MS = 50;
/** How long the output is paused in a flood: phones get five snapshots a second instead. */
export const FLOOD_REST_MS = 200;
/**
 * After a slow snapshot, the pause is this many times as long as it took: other sessions wait while tmux takes one of a
 * large screen.
 */
export const REST_TIMES = 9;
export const FLOOD_REST_MAX_MS = 2_000;

export class FloodMeter {
  #begun = 0;
  #bytes = 0;
  #isFlooding = false;

  /** Adds output; true if it is a flood. `now` is in milliseconds. */
  isFlood(bytes: number, now: number): boolean {
    if (now - this.#begun >= FLOOD_WINDOW_MS) {
      this.#isFlooding &&= this.#bytes >= FLOODING_BYTES;
      this.#begun = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    return this.#bytes >= (this.#isFlooding ? FLOODING_BYTES : FLOOD_BYTES);
  }

  /** The output was paused: what follows is measured from zero, and more strictly. */
  rested(now: number): void {
    this.#isFlooding = true;
    this.#begun = now;
    this.#bytes = 0;
  }
}
