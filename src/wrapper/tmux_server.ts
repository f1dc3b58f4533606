/** The tmux server of a wrapper run: finds it, lists its sessions, creates, claims and attaches one, and saves its agent's last words. */
import type { Files, Runtime } from "../runtime/types.ts";
import { commandLine, exactPane, type NewSession, spawnArgv, type TmuxCommand, verbs } from "../tmux/argv.ts";
import {
  fieldsFormat,
  folderTrust,
  parseFields,
  runTmux,
  type SocketTrust,
  socketTrust,
  tmuxEnvironment,
  TmuxError,
  type TrustHost,
} from "../tmux/server.ts";
import { parseSessions, SESSION_OPTIONS, sessionQuery, type TmuxSession } from "../tmux/sessions.ts";
import { type Clock, waitFor } from "../async/clock.ts";
import { utf8Length } from "../async/encodings.ts";
import { folderOf, shellQuote } from "../runtime/system.ts";

export interface ServerHost extends TrustHost {
  files: TrustHost["files"] & Pick<Files, "makeDirectory">;
  commands: Pick<Runtime["commands"], "run" | "runInherited">;
}

export interface TmuxAccess {
  commands: ServerHost["commands"];
  /** The resolved path of a socket that no other account can replace; undefined: tmux's default. */
  socket: string | undefined;
  /** Environment of the tmux clients. */
  env: Record<string, string>;
  /** Environment of the client that may start the server: windows that the user opens there later inherit it. */
  serverEnv: Record<string, string>;
}

/**
 * Finds the tmux server. Throws Error when another account could answer in place of it and get the agent's environment.
 */
export async function trustedServer(
  host: ServerHost,
  env: Readonly<Record<string, string>>,
): Promise<TmuxAccess> {
  return {
    commands: host.commands,
    socket: await trustedSocket(host, env),
    env: tmuxEnvironment(env, { attaches: true }),
    serverEnv: { ...env },
  };
}

/** Undefined: tmux creates its default folder itself, and accepts only one that this account owns. */
async function trustedSocket(
  host: ServerHost,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const named = env.SVC_TMUX_SOCKET || env.TMUX?.split(",")[0];
  const root = (env.TMUX_TMPDIR || "/tmp").replace(/\/+$/, "");
  const path = named || `${root}/tmux-${host.uid}/default`;
  const trust = await socketTrust(path, host);
  if (trust.kind === "trusted") return trust.path;
  if (trust.kind === "refused") throw untrusted(path, trust.why);
  await checkNothingElse(path, host);
  const folder = await closestFolder(folderOf(path), host);
  if (folder.kind === "refused") throw untrusted(path, folder.why);
  if (named) await makeDefaultFolder(path, host);
  return named || undefined;
}

/**
 * Makes the folder of tmux's own sockets, `tmux-<uid>`, if it is missing, as after a boot that emptied `/tmp`: tmux
 * makes it only for a socket that is not named.
 */
async function makeDefaultFolder(path: string, host: ServerHost): Promise<void> {
  const folder = folderOf(path);
  if (!folder.endsWith(`/tmux-${host.uid}`)) return;
  if ((await folderTrust(folder, host)).kind === "trusted") return;
  if ((await folderTrust(folderOf(folder), host)).kind !== "trusted") return;
  await host.files.makeDirectory(folder, { mode: 0o700 });
  const made = await folderTrust(folder, host);
  if (made.kind === "refused") throw untrusted(path, made.why);
}

/** Throws Error if something other than a socket is there: tmux deletes a file before it makes its socket. */
async function checkNothingElse(path: string, { files }: TrustHost): Promise<void> {
  const info = await files.info(path);
  if (info === undefined || info.isSocket) return;
  const what = info.isDirectory ? "a directory" : "a file, which tmux would delete";
  throw new Error(
    `Cannot use "${path}" as the tmux socket: it is ${what}, not a socket. ` +
      "Set SVC_TMUX_SOCKET to a path where nothing or a tmux socket is.",
  );
}

/** The folder, or the closest one above it that exists. */
async function closestFolder(folder: string, host: TrustHost): Promise<SocketTrust> {
  const trust = await folderTrust(folder, host);
  if (trust.kind !== "absent" || folder === folderOf(folder)) return trust;
  return await closestFolder(folderOf(folder), host);
}

function untrusted(path: string, why: string): Error {
  return new Error(
    `Cannot use the tmux socket "${path}": ${why}, so another account could answer there in place of tmux. ` +
      "Set SVC_TMUX_SOCKET to a path in a folder that you own.",
  );
}

export interface ServerView {
  /** tmux's version; empty while no server runs. */
  version: string;
  sessions: TmuxSession[];
  /** Names in the server's global environment. */
  environment: string[];
}

const SERVER_FIELDS = { version: "#{version}" };

/** Reads the server's version, sessions and environment; all empty while no server runs, or without tmux. */
export async function viewServer(tmux: TmuxAccess): Promise<ServerView> {
  try {
    const output = await run(tmux, [
      ...sessionQuery(),
      verbs.printPlain(fieldsFormat("server", SERVER_FIELDS)),
      verbs.showEnvironment(),
    ]);
    return parseView(output, tmux.socket ?? "");
  } catch (error) {
    if (error instanceof TmuxError) return { version: "", sessions: [], environment: [] };
    throw error;
  }
}

function parseView(output: string, socket: string): ServerView {
  const [server] = output.split("\n").flatMap((line) =>
    parseFields(line, { tag: "server", fields: SERVER_FIELDS }) ?? []
  );
  return {
    version: server?.version ?? "",
    sessions: parseSessions(socket, output),
    environment: environmentNames(output),
  };
}

/** The names in what verbs.showEnvironment() printed; removed variables and other lines are ignored. */
export function environmentNames(output: string): string[] {
  return output.split("\n").flatMap((line) => /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(line)?.[1] ?? []);
}

/** A claim is void after this time, because its wrapper may have died, in milliseconds. */
export const CLAIM_LIFE_MS = 10_000;

/** A wrapper's claim on the session that it is about to attach, `<epoch ms>.<random>`: others count the session as attached. */
export function newClaim(now: number): string {
  return `${now}.${crypto.randomUUID().slice(0, 8)}`;
}

/** Replaces a claim once its wrapper is attached: void, but new, so that no other wrapper's outdated view matches it. */
export function spentClaim(): string {
  return newClaim(0);
}

/** Ends the claim of a wrapper that is attached, or that could not attach. */
export function spendClaim(name: string): TmuxCommand {
  return verbs.setSessionOption(exactPane(name), SESSION_OPTIONS.claim, spentClaim());
}

/** False for an empty claim, an old one, and one from the future of a clock that was set back since. */
export function isClaimed(claim: string, now: number): boolean {
  const made = Number(claim.split(".")[0]);
  return claim !== "" && Math.abs(now - made) < CLAIM_LIFE_MS;
}

/** Replaces the claim `seen` by `claim` in one step of the server; false when another wrapper was faster. */
export async function claimSession(
  tmux: TmuxAccess,
  name: string,
  { seen, claim }: { seen: string; claim: string },
): Promise<boolean> {
  const pane = exactPane(name);
  const isUnchanged = `#{==:#{${SESSION_OPTIONS.claim}},${seen}}`;
  const printed = await run(tmux, [
    verbs.ifFormat(pane, isUnchanged, { then: [verbs.setSessionOption(pane, SESSION_OPTIONS.claim, claim)] }),
    verbs.print(pane, `#{${SESSION_OPTIONS.claim}}`),
  ]);
  return printed.trim() === claim;
}

const CREATED_FIELDS = { pane: "#{pane_id}", pid: "#{pane_pid}", name: "#{session_name}" };
/** Printed when the session was configured along with its creation. */
const CONFIGURED = "svc-configured";
/** True for a session of one pane, which is the first. */
const HAS_ONE_PANE = "#{&&:#{==:#{session_windows},1},#{==:#{window_panes},1}}";

/**
 * Creates the session and configures it through its first pane, in one sequence, so that no half-made session is
 * visible. If a hook of the user has opened more panes, a second sequence configures it, because only then is that pane
 * known. It counts as created even if something fails after that. Returns its name by then, and the agent's pid.
 */
export async function createSession(
  tmux: TmuxAccess,
  session: NewSession,
  configure: (pane: string) => TmuxCommand[],
): Promise<{ name: string; pid: number }> {
  const first = exactPane(session.name);
  const output = await runLine(tmux, [
    verbs.newSession({ ...session, print: fieldsFormat("created", CREATED_FIELDS) }),
    verbs.ifFormat(first, HAS_ONE_PANE, { then: [...configure(first), verbs.printPlain(CONFIGURED)] }),
  ]).catch((error) => {
    if (error instanceof TmuxError && createdIn(error.printed) !== undefined) return error.printed;
    throw error;
  });
  const created = createdIn(output);
  if (created === undefined) {
    throw new TmuxError(`tmux did not name the session "${session.name}" that it created`);
  }
  const pid = Number(created.pid);
  try {
    if (!output.split("\n").includes(CONFIGURED)) await runLine(tmux, configure(created.pane));
    // A hook of the user may have renamed it by now.
    const name = (await run(tmux, [verbs.print(created.pane, "#{session_name}")])).trim();
    return { name: name || created.name, pid };
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    return { name: created.name, pid };
  }
}

/** Finds the line of the created session: hooks of the user may have printed others. */
function createdIn(output: string): Record<keyof typeof CREATED_FIELDS, string> | undefined {
  return output.split("\n").flatMap((line) =>
    parseFields(line, { tag: "created", fields: CREATED_FIELDS }) ?? []
  )[0];
}

async function runLine(tmux: TmuxAccess, commands: readonly TmuxCommand[]): Promise<string> {
  return await runTmux(tmux.commands, [verbs.startServer(), verbs.sourceStdin()], {
    socket: tmux.socket,
    stdin: `${commandLine(commands)}\n`,
    env: tmux.serverEnv,
  });
}

/** True for the error that another wrapper took the name first. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof TmuxError && error.message.includes("duplicate session");
}

/** Attaches this terminal until the user detaches or the session ends; spends the claim once attached. */
export async function attachSession(tmux: TmuxAccess, name: string): Promise<number> {
  const argv = spawnArgv(tmux.socket, [verbs.attach(name), spendClaim(name)]);
  return await tmux.commands.runInherited(argv, { env: tmux.env });
}

export async function sessionExists(tmux: TmuxAccess, name: string): Promise<boolean> {
  return await tryTmux(tmux, [verbs.hasSession(name)]);
}

/** Runs commands that may fail; false when one did. */
export async function tryTmux(tmux: TmuxAccess, commands: readonly TmuxCommand[]): Promise<boolean> {
  return await run(tmux, commands).then(() => true, () => false);
}

function run({ commands, socket, env }: TmuxAccess, list: readonly TmuxCommand[]): Promise<string> {
  return runTmux(commands, list, { socket, env });
}

/** An agent that prints more is drawing a screen, and these are not its last words. */
const WORDS_MAX_BYTES = 65_536;
/** No line moves further to the right. */
const WORDS_MAX_COLUMNS = 1_000;
/**
 * How long output is saved, in seconds. It is shown only if the agent ends within SOON_MS (run_wrapper.ts); the rest
 * allows for a busy machine.
 */
const WORDS_SAVED_S = 60;
/** How long a wrapper waits for the last words to be saved, in milliseconds. Only a killed shell takes this long. */
const WORDS_LIMIT_MS = 15_000;
/** How long it waits if they will not be shown, as for a renamed session that still runs. */
const REMOVED_LIMIT_MS = 500;
const WORDS_PROBE_MS = 20;
/** Older files are most likely of sessions that are gone, in milliseconds. */
const WORDS_KEPT_MS = 86_400_000;

/** Moves the cursor off its line, clears, or takes the whole screen (ECMA-48, xterm): unreadable when shown again. */
const SCREEN_DRAWING = /\x1b\[[0-9;]*[ABDEFHJKdfr]|\x1b[78cM]/;
const OWN_SCREEN = /\x1b\[\?(?:47|1047|1049)h/;
/** Sets a mode, asks the terminal something, names its title, or resets the scroll region and returns to its place. */
// deno-fmt-ignore
const INVISIBLE = /\x1bP(?:\x1b\x1b|[^\x1b])*\x1b\\|\x1b7\x1b\[r\x1b8|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[?>=<][0-9;]*[ -/]*[@-~]|\x1b\[[0-9;]*[cn]|\x1b\([0B]|\x1b[=>]|[\x07\x0e\x0f]/g;
/** Moves the cursor within its line, to a column (G) or by some columns (C): Claude does so in place of spaces. */
const COLUMN_MOVE = /\x1b\[([0-9]*)([CG])/;
const COLOR = /\x1b\[[0-9;:]*m/g;

/**
 * Prepares the file for what an agent prints before it exits right away, which is shown again because tmux clears it
 * off the terminal. Creates the folder, and removes the file of an earlier session of this name and old ones of
 * wrappers that were killed. Undefined where svc cannot write: the agent starts without it. The `.part` file exists
 * from now until the words are saved. On a busy machine that may be long after the agent has ended.
 */
export async function prepareLastWords(
  files: Pick<Files, "makeDirectory" | "createText" | "remove" | "list" | "info">,
  file: string,
  { now }: { now: number },
): Promise<string | undefined> {
  const folder = folderOf(file);
  try {
    await files.makeDirectory(folder, { mode: 0o700 });
    await files.remove(file);
    await files.createText(partOf(file), "", { mode: 0o600 });
  } catch {
    return undefined;
  }
  await removeOld(files, { folder, now }).catch(() => {});
  return file;
}

async function removeOld(
  files: Pick<Files, "remove" | "list" | "info">,
  { folder, now }: { folder: string; now: number },
): Promise<void> {
  for (const name of await files.list(folder)) {
    const left = await files.info(`${folder}/${name}`);
    if (left?.isFile && left.mtimeMs < now - WORDS_KEPT_MS) await files.remove(`${folder}/${name}`);
  }
}

/**
 * Saves the first bytes of the pane's output, and moves them to `file` when the pane ends. A dead pane that tmux keeps
 * (`remain-on-exit`) would show the exit code too, but tmux 3.3a misses one death in ten and then keeps the pane forever.
 * The command ends by itself: a wrapper that closed the pane's pipe could not tell it from one that the user has opened since.
 */
export function saveLastWords(
  pane: string,
  file: string,
  { seconds = WORDS_SAVED_S }: { seconds?: number } = {},
): TmuxCommand {
  const part = shellQuote(partOf(file));
  const script = [
    // A shell's background command gets no stdin but an explicit one. On a busy machine this shell may start after the
    // wrapper has removed the file.
    `umask 077; exec 3<&0; [ -e ${part} ] || exit`,
    `head -c ${WORDS_MAX_BYTES} <&3 > ${part} 3<&- & head=$!`,
    `{ trap 'kill $!; exit' TERM; sleep ${seconds} & wait $! && kill $head; } < /dev/null > /dev/null 2>&1 3<&- & limit=$!`,
    `exec 3<&-; wait $head; kill $limit; mv ${part} ${shellQuote(file)}`,
  ];
  return verbs.pipePane(pane, script.join("\n"));
}

const partOf = (file: string): string => `${file}.part`;

/** Removes the files of a session that goes on without this terminal, with what is still being saved. */
export async function forgetLastWords(files: Pick<Files, "remove">, file: string): Promise<void> {
  for (const path of [partOf(file), file]) await files.remove(path).catch(() => {});
}

/**
 * Waits for the agent's last output to be written to `file`, deletes the file and returns the text; `""` if it was a screen
 * or could not be saved. Undefined if nothing came: the agent printed nothing, or tmux lost it, as it does with the output
 * of one program in a hundred that ends right afterwards.
 */
export async function takeLastWords(
  { files, clock }: { files: Pick<Files, "readText" | "remove" | "info">; clock: Clock },
  file: string,
  { areShown }: { areShown: boolean },
): Promise<string | undefined> {
  const isThere = async (path: string): Promise<boolean> => await files.info(path) !== undefined;
  const isSaved = async (): Promise<boolean> => await isThere(file) || !await isThere(partOf(file));
  try {
    await waitFor(async () => await isSaved() || undefined, {
      clock,
      limitMs: areShown ? WORDS_LIMIT_MS : REMOVED_LIMIT_MS,
      everyMs: WORDS_PROBE_MS,
    });
    const saved = await files.readText(file);
    await files.remove(file);
    return saved?.trim() === "" ? undefined : readableWords(saved ?? "");
  } catch {
    return "";
  }
}

/** What an agent printed, in lines and colors. Empty when it had drawn a screen. */
export function readableWords(saved: string): string {
  if (OWN_SCREEN.test(saved) || utf8Length(saved) >= WORDS_MAX_BYTES) return "";
  const visible = saved.replace(INVISIBLE, "");
  if (SCREEN_DRAWING.test(visible)) return "";
  const lines = visible.split(/\r*\n/).map(withSpaces);
  return lines.includes(undefined) ? "" : lines.join("\n").trimEnd();
}

/** The line with spaces in place of moves to the right. Undefined if it moves back, over its text. */
function withSpaces(line: string): string | undefined {
  const [first = "", ...rest] = line.split(COLUMN_MOVE);
  let text = first;
  for (let at = 0; at < rest.length; at += 3) {
    const [count, kind, after] = rest.slice(at, at + 3);
    const column = text.replace(COLOR, "").length;
    const spaces = (Number(count) || 1) - (kind === "G" ? column + 1 : 0);
    if (spaces < 0 || spaces > WORDS_MAX_COLUMNS) return undefined;
    text += " ".repeat(spaces) + after;
  }
  return text;
}
