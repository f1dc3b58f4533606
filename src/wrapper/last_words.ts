/** What an agent printed before it ended at once: tmux clears it off the terminal, so it is saved and shown again. */
import { exactPane, type TmuxCommand } from "../tmux/argv.ts";

/** An agent that prints more is at work on a screen, and said no last words. */
const WORDS_MAX_BYTES = 65_536;

/** What moves the cursor, clears, or takes the whole screen (ECMA-48, xterm): shown again it would be a mess. */
const SCREEN_WORK = /\x1b\[[0-9;]*[A-HJKf]|\x1b\[\?1049h|\x1b[78cM]/;

/**
 * Saves the first bytes of the pane's output, and moves them to `file` when the pane ends. A dead pane that tmux keeps
 * (`remain-on-exit`) would tell the exit code too, but tmux 3.3a loses the news of one death in ten, and keeps it for good.
 */
export function saveLastWords(name: string, file: string): TmuxCommand[] {
  const words = `umask 077; head -c ${WORDS_MAX_BYTES} > ${quote(`${file}.part`)}; `;
  const command = `${words}mv ${quote(`${file}.part`)} ${quote(file)}`;
  return [["pipe-pane", "-t", exactPane(name), escapeFormat(command)]];
}

/** For a session that goes on without this terminal. */
export function forgetLastWords(name: string): TmuxCommand[] {
  return [["pipe-pane", "-t", exactPane(name)]];
}

/** What a person can read again; empty when the agent had worked on a screen. */
export function readableWords(saved: string): string {
  const isWork = SCREEN_WORK.test(saved) || new TextEncoder().encode(saved).length >= WORDS_MAX_BYTES;
  return isWork ? "" : saved.replaceAll("\r\n", "\n").trimEnd();
}

/** One word of a POSIX shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** tmux expands formats and the time (strftime) in the command. */
function escapeFormat(text: string): string {
  return text.replaceAll("#", "##").replaceAll("%", "%%");
}
