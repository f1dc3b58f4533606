/** What an agent printed before it ended: tmux closes the pane with it, so it is saved for the terminal that was attached. */
import { commandLine, exactPane, type TmuxCommand } from "../tmux/argv.ts";

export interface LastWords {
  /** Without blank lines at the end. */
  text: string;
  /** The agent's exit code; undefined when tmux did not tell. */
  code: number | undefined;
}

/** How much of the history is saved, in lines. */
const HISTORY_LINES = 1_000;
const BUFFER_PREFIX = "svc-last-";

/** Keeps the dead pane for the instant in which its screen is written to `file`. tmux expands formats in the path. */
export function saveLastWords(name: string, file: string): TmuxCommand[] {
  const buffer = `${BUFFER_PREFIX}${name}`;
  const save = commandLine([
    ["capture-pane", "-J", "-S", `-${HISTORY_LINES}`, "-b", buffer],
    ["save-buffer", "-b", buffer, file.replaceAll("#", "##")],
    ["delete-buffer", "-b", buffer],
    ["kill-pane"],
  ]);
  const pane = exactPane(name);
  return [
    ["set-option", "-p", "-t", pane, "remain-on-exit", "on"],
    ["set-hook", "-p", "-t", pane, "pane-died", save],
  ];
}

/** For a session that goes on without this terminal. */
export function forgetLastWords(name: string): TmuxCommand[] {
  const pane = exactPane(name);
  return [
    ["set-option", "-p", "-t", pane, "remain-on-exit", "off"],
    ["set-hook", "-p", "-u", "-t", pane, "pane-died"],
  ];
}

/** tmux's own line under a dead pane ends the text and tells the exit code: `Pane is dead (status 3, …)`. */
export function parseLastWords(saved: string): LastWords {
  const [, text = saved, status] = /^([\s\S]*?)\n?Pane is dead \((?:status (\d+))?[^\n]*\n*$/.exec(saved) ??
    [];
  return { text: text.trimEnd(), code: status === undefined ? undefined : Number(status) };
}
