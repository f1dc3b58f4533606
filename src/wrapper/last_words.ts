/** What an agent printed before it exited right away: tmux clears it off the terminal, so it is saved and shown again. */
import { type Clock, waitFor } from "../async/clock.ts";
import { utf8Length } from "../async/encodings.ts";
import { shellQuote } from "../runtime/system.ts";
import type { Files } from "../runtime/types.ts";
import { exactPane, type TmuxCommand, verbs } from "../tmux/argv.ts";

/** An agent that prints more is drawing a screen, and these are not its last words. */
const WORDS_MAX_BYTES = 65_536;
/** How long the last words may take from the pane's end to their file, in milliseconds. */
const WORDS_LIMIT_MS = 500;
const WORDS_PROBE_MS = 20;

/** Moves the cursor, clears, or takes the whole screen (ECMA-48, xterm): unreadable when shown again. */
const SCREEN_DRAWING = /\x1b\[[0-9;]*[A-HJKf]|\x1b\[\?1049h|\x1b[78cM]/;

/** Creates the folder of last words, and removes what an earlier session of this name left in the file. */
export async function prepareLastWords(
  files: Pick<Files, "makeDirectory" | "remove">,
  file: string,
): Promise<string> {
  await files.makeDirectory(file.slice(0, file.lastIndexOf("/")), { mode: 0o700 });
  await files.remove(file);
  return file;
}

/**
 * Saves the first bytes of the pane's output, and moves them to `file` when the pane ends. A dead pane that tmux keeps
 * (`remain-on-exit`) would show the exit code too, but tmux 3.3a misses one death in ten and then keeps the pane forever.
 */
export function saveLastWords(name: string, file: string): TmuxCommand {
  const save = `umask 077; head -c ${WORDS_MAX_BYTES} > ${shellQuote(`${file}.part`)}; `;
  return verbs.pipePane(exactPane(name), `${save}mv ${shellQuote(`${file}.part`)} ${shellQuote(file)}`);
}

/** For a session that goes on without this terminal. */
export function forgetLastWords(name: string): TmuxCommand {
  return verbs.pipePane(exactPane(name));
}

/** Waits for the file, removes it and returns its readable text. */
export async function takeLastWords(
  { files, clock }: { files: Pick<Files, "readText" | "remove">; clock: Clock },
  file: string,
): Promise<string> {
  const waiting = { clock, limitMs: WORDS_LIMIT_MS, everyMs: WORDS_PROBE_MS };
  const saved = await waitFor(() => files.readText(file), waiting);
  await files.remove(file);
  return readableWords(saved ?? "");
}

/** Empty when the agent had drawn a screen. */
export function readableWords(saved: string): string {
  const isScreen = SCREEN_DRAWING.test(saved) || utf8Length(saved) >= WORDS_MAX_BYTES;
  return isScreen ? "" : saved.replaceAll("\r\n", "\n").trimEnd();
}
