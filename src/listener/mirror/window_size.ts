/** Gives a window the size that a phone requested, and restores its own size afterwards. */
import { MAX_SCREEN_COLUMNS, MAX_SCREEN_ROWS } from "../../agents/read_screen.ts";
import { verbs } from "../../tmux/argv.ts";
import { fieldsFormat, parseFields, TmuxError, type TmuxServer } from "../../tmux/server.ts";
import type { Targets } from "../targets.ts";
import type { Size } from "./viewer.ts";

/** Set on a fitted window to `cols rows window-size`, so that after a crash the next listener can restore it. */
const OPTION = "@svc_fit";

const FIELDS = {
  panes: "#{window_panes}",
  cols: "#{window_width}",
  rows: "#{window_height}",
  before: `#{${OPTION}}`,
};

export interface FitTarget {
  server: TmuxServer;
  pane: string;
}

/**
 * False if the window has other panes too. A larger size than profiles read is cut to theirs: tmux would be busy with each
 * snapshot of it, to the cost of other sessions. Throws TmuxError.
 */
export async function fitWindow({ server, pane }: FitTarget, size: Size): Promise<boolean> {
  const [line = ""] = (await server.run(verbs.print(pane, fieldsFormat("fit", FIELDS)))).split("\n");
  const facts = parseFields(line, { tag: "fit", fields: FIELDS });
  if (facts === undefined || facts.panes !== "1") return false;
  const own = await server.run(verbs.showWindowOption(pane, "window-size"));
  const before = facts.before || [facts.cols, facts.rows, own.trim()].join(" ");
  const readable = {
    cols: Math.min(size.cols, MAX_SCREEN_COLUMNS),
    rows: Math.min(size.rows, MAX_SCREEN_ROWS),
  };
  await server.run(verbs.setWindowOption(pane, OPTION, before), verbs.resizeWindow(pane, readable));
  return true;
}

/** Does nothing if the window is not fitted, or gone. */
export async function restoreWindowSize({ server, pane }: FitTarget): Promise<void> {
  try {
    const before = (await server.run(verbs.print(pane, `#{${OPTION}}`))).trim();
    const [, cols, rows, own = ""] = /^(\d+) (\d+) ?(\S*)$/.exec(before) ?? [];
    if (cols === undefined) return;
    await server.run(
      verbs.resizeWindow(pane, { cols: Number(cols), rows: Number(rows) }),
      own === ""
        ? verbs.unsetWindowOption(pane, "window-size")
        : verbs.setWindowOption(pane, "window-size", own),
      verbs.unsetWindowOption(pane, OPTION),
    );
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
    for (const pane of await fittedPanes(server)) await restoreWindowSize({ server, pane });
  }
}

async function fittedPanes(server: TmuxServer): Promise<string[]> {
  try {
    const lines = await server.run(verbs.listPanes(`#{?#{${OPTION}},#{pane_id},}`));
    return lines.split("\n").filter((line) => line !== "");
  } catch (error) {
    if (error instanceof TmuxError) return [];
    throw error;
  }
}
