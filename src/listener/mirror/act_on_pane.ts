/** What a phone does to the pane of its mirror: types a keystroke into it, and gives its window another size, which is restored afterwards. */
import { MAX_SCREEN_COLUMNS, MAX_SCREEN_ROWS } from "../../agents/read_screen.ts";
import { verbs } from "../../tmux/argv.ts";
import { fieldsFormat, parseFields, TmuxError, type TmuxServer } from "../../tmux/server.ts";
import type { Target, Targets } from "../targets.ts";
import type { Size } from "./viewer.ts";
import { type Clock, delay } from "../../async/clock.ts";
import { paneContext, type TypingContext } from "../inject/context.ts";
import type { Keystroke } from "../keystrokes/keystroke_rules.ts";
import { type KeystrokeOutcome, type KeystrokeWait, typeKeystroke } from "../keystrokes/type_keystroke.ts";

interface WatchedPane {
  target: Target;
  targets: Pick<Targets, "current">;
  typing: TypingContext;
  clock: Clock;
  wait: KeystrokeWait;
}

/**
 * Types a keystroke by the rules of the agent that runs there now. Returns the target as well: another agent may have been
 * started in the pane since it was found.
 */
export async function typeInto(
  { target, targets, typing, clock, wait }: WatchedPane,
  input: Keystroke,
): Promise<{ outcome: KeystrokeOutcome; target: Target }> {
  const pause = (ms: number): Promise<void> => delay(ms, { clock });
  const type = (into: Target) => typeKeystroke({ ...paneContext(typing, into), ...wait, pause }, input);
  const outcome = await type(target);
  if (outcome.state !== "refused" || outcome.reason !== "unknown_screen") return { outcome, target };
  const now = await targets.current(target);
  const isSame = now.profile === target.profile && now.panePid === target.panePid;
  return { outcome: isSame ? outcome : await type(now), target: now };
}

/**
 * Set on a fitted window to `cols rows fitted window-size`, with the fitted size as `cols`x`rows`, so that after a crash
 * the next listener can restore it.
 */
const FIT_OPTION = "@svc_fit";

const FIT_FIELDS = {
  window: "#{window_id}",
  panes: "#{window_panes}",
  cols: "#{window_width}",
  rows: "#{window_height}",
  mode: "#{window-size}",
  before: `#{${FIT_OPTION}}`,
};

export interface FitTarget {
  server: TmuxServer;
  /** The id of the window, or of its pane. */
  target: string;
}

/**
 * Fits the window to the size and returns its id, because the pane may leave it before its size is restored; undefined
 * if it has other panes too. The size is limited to what profiles read: snapshots of a larger screen would delay other
 * sessions. Throws TmuxError.
 */
export async function fitWindow({ server, target }: FitTarget, size: Size): Promise<string | undefined> {
  const [line = ""] = (await server.run(verbs.print(target, fieldsFormat("fit", FIT_FIELDS)))).split("\n");
  const facts = parseFields(line, { tag: "fit", fields: FIT_FIELDS });
  if (facts === undefined || facts.panes !== "1") return undefined;
  const own = await server.run(verbs.showWindowOption(facts.window, "window-size"));
  const readable = {
    cols: Math.min(size.cols, MAX_SCREEN_COLUMNS),
    rows: Math.min(size.rows, MAX_SCREEN_ROWS),
  };
  const kept = parseFit(facts);
  const { cols, rows, own: windowSize } = kept?.isResized === false ? kept : { ...facts, own: own.trim() };
  const before = [cols, rows, `${readable.cols}x${readable.rows}`, windowSize].join(" ");
  const { window } = facts;
  await server.run(verbs.setWindowOption(window, FIT_OPTION, before), verbs.resizeWindow(window, readable));
  return window;
}

interface Fit {
  /** The size and the window's own `window-size` before it was fitted. */
  cols: string;
  rows: string;
  own: string;
  /** Someone at the computer has given the window another size or rule since. */
  isResized: boolean;
}

/** What FIT_OPTION says; undefined if the window is not fitted. */
function parseFit(
  { cols, rows, mode, before }: Record<"cols" | "rows" | "mode" | "before", string>,
): Fit | undefined {
  const [, oldCols, oldRows, fitted, own = ""] = /^(\d+) (\d+)(?: (\d+x\d+))? ?(\S*)$/.exec(before) ?? [];
  if (oldCols === undefined || oldRows === undefined) return undefined;
  const hasOtherSize = fitted !== undefined && fitted !== `${cols}x${rows}`;
  return { cols: oldCols, rows: oldRows, own, isResized: hasOtherSize || mode !== "manual" };
}

/** Does nothing if the window is not fitted, or gone. A size that someone gave it since stays. */
export async function restoreWindowSize({ server, target }: FitTarget): Promise<void> {
  try {
    const [line = ""] = (await server.run(verbs.print(target, fieldsFormat("fit", FIT_FIELDS)))).split("\n");
    const facts = parseFields(line, { tag: "fit", fields: FIT_FIELDS });
    const fit = facts && parseFit(facts);
    if (fit === undefined) return;
    const { cols, rows, own, isResized } = fit;
    const restore = [
      verbs.resizeWindow(target, { cols: Number(cols), rows: Number(rows) }),
      own === ""
        ? verbs.unsetWindowOption(target, "window-size")
        : verbs.setWindowOption(target, "window-size", own),
    ];
    await server.run(...(isResized ? [] : restore), verbs.unsetWindowOption(target, FIT_OPTION));
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
  }
}

/** Restores windows that a killed listener left fitted. */
export async function restoreAllWindowSizes(
  targets: Pick<Targets, "sessions" | "anyServer">,
): Promise<void> {
  const sockets = new Set((await targets.sessions()).map(({ socket }) => socket));
  for (const socket of sockets) {
    const server = targets.anyServer(socket);
    for (const target of await fittedWindows(server)) await restoreWindowSize({ server, target });
  }
}

async function fittedWindows(server: TmuxServer): Promise<string[]> {
  try {
    const lines = await server.run(verbs.listPanes(`#{?#{${FIT_OPTION}},#{window_id},}`));
    return [...new Set(lines.split("\n"))].filter((line) => line !== "");
  } catch (error) {
    if (error instanceof TmuxError) return [];
    throw error;
  }
}
