/** What the wrapper asks of tmux: one call to look, one to claim, one to create, one to attach. */
import type { Commands } from "../runtime/types.ts";
import { commandLine, exactPane, spawnArgv, type TmuxCommand, verbs } from "../tmux/argv.ts";
import { fieldsFormat, oneLine, parseFields } from "../tmux/fields.ts";
import { TmuxError } from "../tmux/server.ts";
import { SESSION_OPTIONS } from "../tmux/sessions.ts";
import { CLAIM_OPTION, spentClaim } from "./claim.ts";
import { environmentNames } from "./pane_environment.ts";

export interface TmuxAccess {
  commands: Pick<Commands, "run" | "runInherited">;
  /** The resolved path of a socket that no other account can stand behind; tmux's own default when undefined. */
  socket: string | undefined;
  /** Of the tmux clients. */
  env: Record<string, string>;
  /** Of the client that may start the server: what the user opens there later gets it too. */
  serverEnv: Record<string, string>;
}

/** A session as it stands; empty strings for what no wrapper recorded. */
export interface ListedSession {
  name: string;
  agent: string;
  root: string;
  claim: string;
  pid: number;
  attached: boolean;
}

export interface ServerView {
  /** Of the server; empty while none runs. */
  version: string;
  sessions: ListedSession[];
  /** Names in the server's global environment. */
  environment: string[];
}

/** Real path of the project's directory: sessions of another directory with the same name are another project's. */
export const ROOT_OPTION = "@svc_root";

const SESSION_FIELDS = {
  name: "#{session_name}",
  agent: `#{${SESSION_OPTIONS.agent}}`,
  claim: `#{${CLAIM_OPTION}}`,
  pid: "#{pane_pid}",
  root: oneLine(ROOT_OPTION),
};
const CLIENT_FIELDS = { control: "#{client_control_mode}", session: "#{client_session}" };
const SERVER_FIELDS = { version: "#{version}" };
const CREATED_FIELDS = { pid: "#{pane_pid}", name: "#{session_name}" };

const decoder = new TextDecoder();

async function runTmux(
  tmux: TmuxAccess,
  commands: readonly TmuxCommand[],
  options: { stdin?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const argv = spawnArgv(tmux.socket, commands);
  const result = await tmux.commands.run(argv, { env: tmux.env, ...options });
  if (result.code === 0) return decoder.decode(result.stdout);
  throw new TmuxError(result.stderr.trim() || `tmux exited with ${result.code}`);
}

/** Nothing is there while no server runs, or without tmux. */
export async function viewServer(tmux: TmuxAccess): Promise<ServerView> {
  try {
    return parseView(
      await runTmux(tmux, [
        ["list-sessions", "-F", fieldsFormat("session", SESSION_FIELDS)],
        verbs.listClients(fieldsFormat("client", CLIENT_FIELDS)),
        verbs.printPlain(fieldsFormat("server", SERVER_FIELDS)),
        ["show-environment", "-g"],
      ]),
    );
  } catch (error) {
    if (error instanceof TmuxError) return { version: "", sessions: [], environment: [] };
    throw error;
  }
}

function parseView(output: string): ServerView {
  const lines = output.split("\n");
  const clients = lines.flatMap((line) => parseFields(line, { tag: "client", fields: CLIENT_FIELDS }) ?? []);
  const attached = new Set(clients.filter((one) => one.control !== "1").map((one) => one.session));
  const listed = lines.flatMap((line) => parseFields(line, { tag: "session", fields: SESSION_FIELDS }) ?? []);
  const sessions = listed.map((one) => ({
    ...one,
    pid: Number(one.pid),
    attached: attached.has(one.name),
  }));
  const [server] = lines.flatMap((line) => parseFields(line, { tag: "server", fields: SERVER_FIELDS }) ?? []);
  return { version: server?.version ?? "", sessions, environment: environmentNames(output) };
}

/** Puts `claim` in the place of `seen`, in one step of the server; false when another wrapper was faster. */
export async function claimSession(
  tmux: TmuxAccess,
  name: string,
  { seen, claim }: { seen: string; claim: string },
): Promise<boolean> {
  const pane = exactPane(name);
  const isUnchanged = `#{==:#{${CLAIM_OPTION}},${seen}}`;
  const set = verbs.setSessionOption(name, CLAIM_OPTION, claim);
  const printed = await runTmux(tmux, [
    ["if-shell", "-F", "-t", pane, isUnchanged, commandLine([set])],
    verbs.print(pane, `#{${CLAIM_OPTION}}`),
  ]);
  return printed.trim() === claim;
}

/**
 * Runs the commands, the first of which creates the session, as one sequence: nobody sees the session half made. They go
 * in by stdin, because tmux takes 16 KB of argv at most. Returns the name that tmux gave, and the agent's pid.
 */
export async function createSession(
  tmux: TmuxAccess,
  name: string,
  commands: readonly TmuxCommand[],
): Promise<{ name: string; pid: number }> {
  const print = verbs.print(exactPane(name), fieldsFormat("created", CREATED_FIELDS));
  const sequence = `${commandLine([...commands, print])}\n`;
  const output = await runTmux(tmux, [["start-server"], ["source-file", "-"]], {
    stdin: sequence,
    env: tmux.serverEnv,
  });
  const created = parseFields(output.trimEnd(), { tag: "created", fields: CREATED_FIELDS });
  if (created === undefined) throw new TmuxError(`tmux did not name the session "${name}" that it created`);
  return { name: created.name, pid: Number(created.pid) };
}

/** True for the error of a name that another wrapper took first. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof TmuxError && error.message.includes("duplicate session");
}

/** Attaches this terminal until the user detaches or the session ends; its claim is spent once it stands. */
export async function attachSession(tmux: TmuxAccess, name: string): Promise<number> {
  const spend = verbs.setSessionOption(name, CLAIM_OPTION, spentClaim());
  const argv = spawnArgv(tmux.socket, [verbs.attach(name), spend]);
  return await tmux.commands.runInherited(argv, { env: tmux.env });
}

export async function sessionExists(tmux: TmuxAccess, name: string): Promise<boolean> {
  const { code } = await tmux.commands.run(spawnArgv(tmux.socket, [verbs.hasSession(name)]), {
    env: tmux.env,
  });
  return code === 0;
}

/** Runs commands whose failure does not matter. */
export async function tryTmux(tmux: TmuxAccess, commands: readonly TmuxCommand[]): Promise<void> {
  await tmux.commands.run(spawnArgv(tmux.socket, commands), { env: tmux.env });
}
