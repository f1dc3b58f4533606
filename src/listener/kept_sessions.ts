/** Starts the sessions again that the user marked with `svc keep`: once after each boot, and none that is there. */
import { agentProfile } from "../agents/profiles.ts";
import { changeKept, type KeptSession, loadKept } from "../home/kept.ts";
import type { HomePaths } from "../home/paths.ts";
import { type AgentKind, isAgentKind } from "../protocol/names.ts";
import type { Files } from "../runtime/types.ts";
import type { Ran } from "./agent_life.ts";

export interface RestoreOptions {
  files: Files;
  paths: HomePaths;
  /** Of the machine as it runs now. */
  boot: string;
  /** The names of the sessions that are there. */
  running(): Promise<readonly string[]>;
  /** Starts the agent with these arguments. Undefined if it took too long. */
  start(kept: { agent: AgentKind; directory: string }, args: readonly string[]): Promise<Ran | undefined>;
  log(line: string): void;
}

/** Throws Error when the list of marked sessions cannot be read or written; nothing is started then. */
export async function restoreKept(options: RestoreOptions): Promise<void> {
  const { files, paths, boot, log } = options;
  const due = (await loadKept(files, paths)).filter((one) => one.boot !== boot);
  if (due.length === 0) return;
  // Before the start: a listener that dies meanwhile, and the next one, must not start an agent twice.
  await changeKept(files, paths, (all) => all.map((one) => ({ ...one, boot })));
  const there = new Set(await options.running());
  // One after the other, by name: the wrapper gives each the lowest free number.
  for (const one of due.sort((a, b) => a.session.localeCompare(b.session, "en", { numeric: true }))) {
    log(
      there.has(one.session)
        ? `kept session ${one.session}: it is there already`
        : await startAgain(one, options),
    );
  }
}

/** The outcome as a line for the log. */
async function startAgain(
  { session, agent, directory, args }: KeptSession,
  options: RestoreOptions,
): Promise<string> {
  if (!isAgentKind(agent)) return `kept session ${session}: this svc does not know the agent "${agent}"`;
  const ran = await options.start({ agent, directory }, [...agentProfile(agent).resume ?? [], ...args]);
  if (ran === undefined) return `kept session ${session}: starting ${agent} took too long`;
  if (ran.code !== 0) {
    return `kept session ${session}: svc --detach ${agent} ended with ${ran.code}: ${ran.stderr.trim()}`;
  }
  return `kept session ${session}: started again as ${ran.stdout.trim()} in "${directory}"`;
}
