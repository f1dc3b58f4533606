/** Gives a session's window the size of a phone that asked for it, and its own size back afterwards. */
import { verbs } from "../../tmux/argv.ts";
import { fieldsFormat, parseFields } from "../../tmux/fields.ts";
import { TmuxError, type TmuxServer } from "../../tmux/server.ts";
import type { Size } from "./viewer.ts";

/** On the window while it is fitted, `cols rows window-size`: a listener that was killed leaves what the next one undoes. */
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

/** False when the window shows more than the one pane. Throws TmuxError. */
export async function fitWindow({ server, pane }: FitTarget, size: Size): Promise<boolean> {
  const [line = ""] = (await server.run(verbs.print(pane, fieldsFormat("fit", FIELDS)))).split("\n");
  const facts = parseFields(line, { tag: "fit", fields: FIELDS });
  if (facts === undefined || facts.panes !== "1") return false;
  const own = await server.run(verbs.showWindowOption(pane, "window-size"));
  const before = facts.before || [facts.cols, facts.rows, own.trim()].join(" ");
  await server.run(verbs.setWindowOption(pane, OPTION, before), verbs.resizeWindow(pane, size));
  return true;
}

/** Does nothing where nothing is fitted, or the window is gone. */
export async function unfitWindow({ server, pane }: FitTarget): Promise<void> {
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

/** Panes of the server whose windows are still fitted. */
export async function fittedPanes(server: TmuxServer): Promise<string[]> {
  try {
    const lines = await server.run(verbs.listPanes(`#{?#{${OPTION}},#{pane_id},}`));
    return lines.split("\n").filter((line) => line !== "");
  } catch (error) {
    if (error instanceof TmuxError) return [];
    throw error;
  }
}
