/** Attaches the terminal to a session, and tidies up when it comes back. */
import { waitFor } from "../async/wait_for.ts";
import { forgetLastWords, readableWords } from "./last_words.ts";
import { endLeftovers, processIdentity } from "../tmux/leftovers.ts";
import type { ObtainedSession } from "./obtain_session.ts";
import { attachSession, sessionExists, type TmuxAccess, tryTmux } from "./tmux_calls.ts";
import type { WrapperHost, WrapperRun } from "./types.ts";

/** An agent that ends so soon after its start had something to say: its words are shown. In milliseconds. */
const SOON_MS = 15_000;

export interface Attachment {
  tmux: TmuxAccess;
  session: ObtainedSession;
  /** Called once the agent has the terminal. */
  meanwhile(): void;
}

/** How long the last words may take from the pane's end to their file, in milliseconds. */
const WORDS_LIMIT_MS = 500;
const WORDS_PROBE_MS = 20;

/** Resolves with 0 when the agent ended or the user detached, else with tmux's exit code. */
export async function attach(host: WrapperHost, run: WrapperRun, attachment: Attachment): Promise<number> {
  const { tmux, session: { name, pid, created } } = attachment;
  const started = host.clock.elapsed();
  const identity = run.profile.ignoresHangup ? await processIdentity(host, pid) : "";
  if (!created) sayReattached(host, run, name);
  const code = await hold(run, attachment);
  if (await sessionExists(tmux, name)) {
    if (created) await leave(host, run, { tmux, name });
    return code;
  }
  if (identity !== "") await endLeftovers(host, { pid, identity });
  if (!created) return 0;
  const words = await takeLastWords(host, run, name);
  const wasSoon = host.clock.elapsed() - started < SOON_MS;
  if (wasSoon && words !== "") host.terminal.write(`${words}\n`);
  return 0;
}

/** Words such as `--version` end the agent at once: then there is nothing to attach, and tmux would say so. */
async function hold(run: WrapperRun, { tmux, session, meanwhile }: Attachment): Promise<number> {
  const mayBeOver = session.created && run.args.length > 0;
  const isThere = !mayBeOver || await sessionExists(tmux, session.name);
  const attached = isThere ? attachSession(tmux, session.name) : Promise.resolve(0);
  meanwhile();
  return await attached;
}

/** Writes a line of svc itself, beside what the agent writes. */
export function say(host: Pick<WrapperHost, "terminal">, line: string): void {
  host.terminal.writeError(`svc: ${line}\n`);
}

function sayReattached(host: WrapperHost, run: WrapperRun, name: string): void {
  if (run.args.length === 0) return;
  say(host, `Back in ${name}, which runs already: the words after "${run.profile.kind}" were not used.`);
}

/** The session goes on without this terminal: nobody waits for its last words. */
async function leave(
  host: WrapperHost,
  run: WrapperRun,
  { tmux, name }: { tmux: TmuxAccess; name: string },
): Promise<void> {
  await tryTmux(tmux, forgetLastWords(name));
  await takeLastWords(host, run, name);
}

/** Makes their place, without what a former session of this name left there. */
export async function prepareLastWords(host: WrapperHost, run: WrapperRun, name: string): Promise<string> {
  await host.files.makeDirectory(run.paths.lastWords, { mode: 0o700 });
  await host.files.remove(lastWordsFile(run, name));
  return lastWordsFile(run, name);
}

async function takeLastWords(host: WrapperHost, run: WrapperRun, name: string): Promise<string> {
  const file = lastWordsFile(run, name);
  const saved = await waitFor(() => host.files.readText(file), {
    clock: host.clock,
    limitMs: WORDS_LIMIT_MS,
    everyMs: WORDS_PROBE_MS,
  });
  await host.files.remove(file);
  return readableWords(saved ?? "");
}

function lastWordsFile(run: WrapperRun, name: string): string {
  return `${run.paths.lastWords}/${name}`;
}
