/** One session's mirror: one control-mode client for all the phones that watch it. */
import type { Clock } from "../../async/clock.ts";
import { verbs } from "../../tmux/argv.ts";
import type { ControlAnswer, ControlClient, ControlEvents } from "../../tmux/control_client.ts";
import { OutputFilter } from "../../tmux/mirror_filter.ts";
import { paintAnew, paintOver } from "../../tmux/mirror_paint.ts";
import { drawsLines, parseSnapshot, type Snapshot, snapshotCommands } from "../../tmux/mirror_snapshot.ts";
import { isSame, type Size, type Viewer } from "./viewer.ts";

/** Output is sent at once after a pause or a phone's key, and then gathered for so long: a screen shows no more frames. */
export const FRAME_MS = 16;
/** After so long without output the screen is quiet: what may be wrong is drawn again. */
export const QUIET_MS = 300;
/** The same for a screen that is never quiet. */
export const UNSURE_MAX_MS = 1_000;

/** tmux tells within a second when one of these changes: which panes there are, which are dead, and the title. */
const PANES_FORMAT = "#{W:#{P:#{pane_id} #{pane_dead};}}";
const TITLE_FORMAT = "#{pane_title}";

/** The client as a mirror uses it. */
export type MirrorConnection = Pick<ControlClient, "request" | "close">;

export interface MirrorOptions {
  pane: string;
  sessionId: string;
  clock: Pick<Clock, "elapsed" | "after">;
  open(events: ControlEvents): MirrorConnection;
  /** The client is gone, and every phone was told. */
  ended(): void;
}

/**
 * The client is always read. While no phone can take output, or a flood runs, its output is paused, which drops it and
 * never holds the program up; a snapshot comes after that.
 */
export class SessionMirror {
  readonly #options: MirrorOptions;
  readonly #client: MirrorConnection;
  readonly #viewers = new Set<Viewer>();
  readonly #filter = new OutputFilter();
  readonly #flood = new FloodGauge();
  #size: Size | undefined;
  /** Counts the pauses: a snapshot asked for before one is of no use after it. */
  #pauses = 0;
  #isPaused = false;
  #isResting = false;
  #isAsking = false;
  #mustAsk = false;
  #isOver = false;
  #flushedAt = -Infinity;
  /** When output that waits is sent. */
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
    this.#client.request([
      verbs.subscribe("svc-panes", { what: "", format: PANES_FORMAT }),
      verbs.subscribe("svc-title", { what: pane, format: TITLE_FORMAT }),
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

  /** A phone types: the output that comes next is not gathered. */
  expectEcho(): void {
    this.#expectsEcho = true;
  }

  /** Sends the screen anew, with so many lines above it. */
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

  /** True when it is a flood, which is let run on unwatched for a moment. */
  #measure(bytes: number): boolean {
    if (this.#isPaused || !this.#flood.isFlood(bytes, this.#options.clock.elapsed())) return false;
    this.#pause();
    this.#isResting = true;
    this.#after(FLOOD_REST_MS, () => {
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

  /** Asks for a snapshot when someone needs one and can take it. */
  #refresh(): void {
    if (this.#isAsking || this.#isResting || this.#isOver) return;
    const wanting = [...this.#viewers].filter(({ isStale, canTake }) => isStale && canTake);
    if (wanting.length === 0 && !(this.#mustAsk && !this.#isPaused)) return;
    const { pane } = this.#options;
    const resumed = this.#isPaused ? [verbs.paneOutput(pane, "continue")] : [];
    if (this.#isPaused) this.#flood.rested(this.#options.clock.elapsed());
    this.#isPaused = false;
    this.#isAsking = true;
    this.#mustAsk = false;
    const { pauses, skipped } = { pauses: this.#pauses, skipped: resumed.length };
    const history = Math.max(0, ...wanting.map((viewer) => viewer.history));
    this.#client.request([...resumed, ...snapshotCommands(pane, { history })], (answer) => {
      this.#isAsking = false;
      if (pauses === this.#pauses) this.#took(answer, skipped);
      this.#refresh();
    });
  }

  /** Must not wait: the output that follows belongs after this snapshot. */
  #took(answer: ControlAnswer, skipped: number): void {
    if (this.#isOver) return;
    const { pane } = this.#options;
    const snapshot = answer instanceof Error ? undefined : parseSnapshot(pane, answer.slice(skipped));
    if (snapshot === undefined) return this.#end("pane_gone");
    const { cols, rows, title, switchesScreen } = snapshot.facts;
    this.#filter.keepsScreen = !switchesScreen;
    this.#filter.countMax = Math.max(cols, rows);
    const isNewSize = this.#size === undefined || !isSame(this.#size, { cols, rows });
    this.#size = { cols, rows };
    if (isNewSize) { for (const viewer of this.#viewers) viewer.fallBehind(); }
    this.#show(snapshot);
    this.#entitle(title);
  }

  #show(snapshot: Snapshot): void {
    const { cols, rows } = snapshot.facts;
    const { modes } = snapshot.facts;
    this.#filter.resume(snapshot.pending, { isOdd: modes.insert || modes.origin || !modes.wrap });
    this.#filter.sawScreen({ drawsLines: snapshot.screen.some(drawsLines) });
    const pen = this.#filter.penSequences();
    for (const viewer of this.#viewers) {
      if (viewer.isStale && viewer.canTake) {
        const history = viewer.history > 0 ? snapshot.history : [];
        viewer.history = 0;
        viewer.snapshot({ cols, rows }, paintAnew({ ...snapshot, history }, { pen }));
      } else if (viewer.isUnsure && !viewer.isStale) {
        viewer.repaint(paintOver(snapshot, { pen }));
      }
    }
  }

  #entitle(title: string): void {
    for (const viewer of this.#viewers) viewer.entitle(title);
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
      this.#askAgain();
    });
  }

  #notified(line: string): void {
    const [event, ...words] = line.split(" ");
    const { sessionId } = this.#options;
    if (event === "%session-renamed" && words[0] === sessionId) this.#end("session_renamed");
    else if (event === "%session-changed" && words[0] !== sessionId) this.#end("session_ended");
    else if (event === "%layout-change") this.#askAgain();
    else if (event === "%subscription-changed") this.#changed(line);
  }

  /** A pane that died says so on its screen, which is no output of a program. */
  #changed(line: string): void {
    const value = line.slice(line.indexOf(" : ") + 3);
    if (line.startsWith("%subscription-changed svc-title ")) return this.#entitle(value);
    if (value.includes(`${this.#options.pane} 1;`)) {
      for (const viewer of this.#viewers) {
        viewer.fallBehind();
      }
    }
    this.#askAgain();
  }

  /** The size may have changed, or the pane may be gone. */
  #askAgain(): void {
    this.#mustAsk = true;
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

/** Output of one session within a window that counts as a flood. */
export const FLOOD_BYTES = 65_536;
/** The same while a flood goes on: less is passed on of it. */
export const FLOODING_BYTES = 8_192;
export const FLOOD_WINDOW_MS = 50;
/** How long a flooding session rests: its phones see five screens a second instead. */
export const FLOOD_REST_MS = 200;

export class FloodGauge {
  #begun = 0;
  #bytes = 0;
  #isFlooding = false;

  /** Adds output; true when it is too much. `now` is in milliseconds. */
  isFlood(bytes: number, now: number): boolean {
    if (now - this.#begun >= FLOOD_WINDOW_MS) {
      this.#isFlooding &&= this.#bytes >= FLOODING_BYTES;
      this.#begun = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    return this.#bytes >= (this.#isFlooding ? FLOODING_BYTES : FLOOD_BYTES);
  }

  /** The session was let run on unwatched: what comes next is measured anew, and more strictly. */
  rested(now: number): void {
    this.#isFlooding = true;
    this.#begun = now;
    this.#bytes = 0;
  }
}
