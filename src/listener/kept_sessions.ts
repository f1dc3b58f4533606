/**
 * `kept.json`: the sessions that are started again after a reboot, once per boot and only if they do not exist already.
 */
import { agentProfile } from "../agents/profiles.ts";
import { errorText } from "../async/error_text.ts";
import type { HomePaths } from "../home/paths.ts";
import { makeHome } from "../home/permissions.ts";
import { type AgentKind, isAgentKind } from "../protocol/names.ts";
import type { Commands, Files } from "../runtime/types.ts";
import type { Ran } from "./agent_life.ts";
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import { readStateText } from "../home/damage.ts";
import { withLock } from "../home/lock.ts";

export const KeptSession = z.object({
  /** Its name in tmux. */
  session: z.string(),
  /** The agent's kind. */
  agent: z.string(),
  directory: z.string(),
  /** Arguments that follow those for continuing the conversation. */
  args: z.array(z.string()),
  /** The boot in which it was marked, or may have been started again: it is not started again in that boot. */
  boot: z.string(),
});
export type KeptSession = z.infer<typeof KeptSession>;

const KeptFile = z.object({ sessions: z.array(KeptSession) });

/** Reads the kept sessions. Throws Error if the file is damaged, so that no session is forgotten. */
export async function loadKept(files: Pick<Files, "readText">, paths: HomePaths): Promise<KeptSession[]> {
  const text = await readStateText(files, paths.kept);
  if (text === undefined) return [];
  const file = KeptFile.safeParse(parseJson(text)?.value);
  if (file.success) return file.data.sessions;
  throw new Error(
    `Cannot read "${paths.kept}": it is damaged. Remove it, and mark the sessions again with svc keep.`,
  );
}

/** Edits the list, one process at a time. Throws Error if another process holds the lock. */
export async function changeKept(
  files: Files,
  paths: HomePaths,
  edit: (before: KeptSession[]) => KeptSession[],
): Promise<void> {
  await makeHome(files, paths);
  const busy = (): Error =>
    new Error(`Cannot change the kept sessions: another svc holds "${paths.keptLock}". Try again.`);
  const work = async (): Promise<void> => {
    const sessions = edit(await loadKept(files, paths));
    await files.replaceText(paths.kept, `${JSON.stringify({ sessions }, null, 2)}\n`, { mode: 0o600 });
  };
  await withLock(files, paths.keptLock, { busy, work });
}

const LINUX_BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** An id that changes with each boot. Throws Error where the system has none. */
export async function bootId(
  { files, commands }: { files: Pick<Files, "readText">; commands: Pick<Commands, "run"> },
): Promise<string> {
  const onLinux = (await files.readText(LINUX_BOOT_ID))?.trim();
  if (onLinux) return onLinux;
  const onMac = await commands.run(["sysctl", "-n", "kern.bootsessionuuid"]);
  const id = new TextDecoder().decode(onMac.stdout).trim();
  if (onMac.code === 0 && id !== "") return id;
  throw new Error(
    "Cannot keep sessions over a reboot: the system reports no boot id. Start them again yourself.",
  );
}

export interface RestoreOptions {
  files: Files;
  paths: HomePaths;
  /** The id of the current boot. */
  boot: string;
  /** The names of the existing sessions. */
  running(): Promise<readonly string[]>;
  /** Starts the agent with these arguments. Undefined if it took too long. Throws only if no process was started. */
  start(kept: { agent: AgentKind; directory: string }, args: readonly string[]): Promise<Ran | undefined>;
  log(line: string): void;
}

/**
 * Starts the kept sessions that are due. Throws Error when the list cannot be read or written, or the existing sessions
 * are unknown.
 */
export async function restoreKept(options: RestoreOptions): Promise<void> {
  const { files, paths, boot, log } = options;
  const due = (await loadKept(files, paths)).filter((one) => one.boot !== boot);
  if (due.length === 0) return;
  const there = new Set(await options.running());
  // Before the start, so that no agent is started twice if this listener dies meanwhile.
  await changeKept(files, paths, (all) => all.map((one) => ({ ...one, boot })));
  const started = new Map<string, string>();
  // One at a time, in the order of their names: the wrapper gives each the lowest free number.
  for (const one of due.sort((a, b) => a.session.localeCompare(b.session, "en", { numeric: true }))) {
    if (there.has(one.session)) log(`kept session ${one.session}: it exists already`);
    else await startAgain(one, { options, started });
  }
  if (Array.from(started).some(([from, to]) => from !== to)) {
    await changeKept(files, paths, (all) => all.map((one) => underNewName(one, started)));
  }
}

/** Logs the outcome, and notes the name that the session got. Never throws. */
async function startAgain(
  kept: KeptSession,
  { options, started }: { options: RestoreOptions; started: Map<string, string> },
): Promise<void> {
  const { session, directory } = kept;
  const log = (line: string): void => options.log(`kept session ${session}: ${line}`);
  const outcome = await tryStart(kept, options);
  switch (outcome.kind) {
    case "started":
      started.set(session, outcome.name);
      return log(`started again as ${outcome.name} in "${directory}"`);
    case "unknown":
      return log(outcome.why);
    case "failed":
      log(`${outcome.why}; it is tried again when the listener starts`);
      return await dueAgain(kept, options).catch((error) => log(`not marked for that: ${errorText(error)}`));
  }
}

type StartOutcome =
  | { kind: "started"; name: string }
  /** No agent runs. */
  | { kind: "failed"; why: string }
  /** An agent may run. */
  | { kind: "unknown"; why: string };

/** Exit codes from here on mean a signal, which may have come after the agent's start, or a failure of tmux. */
const UNKNOWN_CODES = 128;

async function tryStart(
  { agent, directory, args }: KeptSession,
  { start }: RestoreOptions,
): Promise<StartOutcome> {
  if (!isAgentKind(agent)) return { kind: "failed", why: `this svc does not know the agent "${agent}"` };
  try {
    const ran = await start({ agent, directory }, [...agentProfile(agent).resume ?? [], ...args]);
    if (ran === undefined) return { kind: "unknown", why: `svc --detach ${agent} took too long` };
    if (ran.code === 0) return { kind: "started", name: ran.stdout.trim() };
    const why = `svc --detach ${agent} ended with ${ran.code}: ${ran.stderr.trim()}`;
    return { kind: ran.code >= UNKNOWN_CODES ? "unknown" : "failed", why };
  } catch (error) {
    return { kind: "failed", why: `svc --detach ${agent} could not be run: ${errorText(error)}` };
  }
}

/** Marks the session as due again, unless the user has changed or removed the entry since. */
async function dueAgain({ session, boot }: KeptSession, options: RestoreOptions): Promise<void> {
  const { files, paths } = options;
  await changeKept(
    files,
    paths,
    (all) => all.map((one) => one.session === session && one.boot === options.boot ? { ...one, boot } : one),
  );
}

/**
 * Returns the entry under its session's current name. One that was not restored gets the former name of the session
 * that now has its name.
 */
function underNewName(one: KeptSession, started: ReadonlyMap<string, string>): KeptSession {
  const given = started.get(one.session);
  if (given !== undefined) return { ...one, session: given };
  const before = new Map(Array.from(started, ([from, to]) => [to, from]));
  let session = one.session;
  for (let from = before.get(session); from !== undefined; from = before.get(session)) session = from;
  return { ...one, session };
}
