/** A tmux server: runs commands on it and returns what they print, as text or as the fields of a format; and whether only this account can be behind its socket. */
import { folderOf } from "../runtime/system.ts";
import type { Commands, FileInfo, Files } from "../runtime/types.ts";
import { commandLine, spawnArgv, type TmuxCommand, verbs } from "./argv.ts";
import { utf8Length } from "../async/encodings.ts";
import { errorText } from "../async/error_text.ts";

export interface TmuxServer {
  readonly socket: string;
  /** Runs the commands in order and returns their output without the last line feed. Throws TmuxError at the first that fails. */
  run(...commands: TmuxCommand[]): Promise<string>;
}

/** tmux refused a command; `message` is what tmux printed. */
export class TmuxError extends Error {
  override name = "TmuxError";
  /** The connection was lost during the command: whether it ran is unknown. */
  readonly lost: boolean;
  /** The server did not answer in time. */
  readonly late: boolean;
  /** What a tmux process's commands printed nevertheless: perhaps only a hook of the user failed, and none of them. */
  readonly printed: string;

  constructor(message: string, options: { lost?: boolean; late?: boolean; printed?: string } = {}) {
    super(message);
    this.printed = options.printed ?? "";
    this.lost = options.lost ?? false;
    this.late = options.late ?? false;
  }
}

const decoder = new TextDecoder();

/** A client is ended if its server does not answer within this time; its request may still be carried out. */
export const REQUEST_LIMIT_MS = 10_000;

export interface TmuxProcess {
  /** Undefined: tmux's default. */
  socket: string | undefined;
  /** Replaces the user's tmux.conf if this process starts the server. */
  config?: string;
  env?: Record<string, string>;
  stdin?: string;
}

/** What a client prints when its server has ended. */
const SERVER_GONE = /lost server|server exited/;
/** What it prints if it cannot create the socket, such as in a folder that does not exist; it then exits with 0. */
const NO_SERVER = /^error creating .*/m;
/** Exit codes from here on stand for a signal. */
const SIGNALLED = 128;

/** A tmux process refuses commands of 16 KB, about as much as reading the screens of eighty sessions takes. */
const ARGV_MAX_BYTES = 12_000;

/**
 * Runs the commands in order in one tmux process and returns everything they print; throws TmuxError at the first that
 * fails, and when tmux does not answer within REQUEST_LIMIT_MS.
 */
export async function runTmux(
  commands: Pick<Commands, "run">,
  list: readonly TmuxCommand[],
  { socket, config, ...options }: TmuxProcess,
): Promise<string> {
  const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
  const line = commandLine(list);
  const isLong = options.stdin === undefined && utf8Length(line) > ARGV_MAX_BYTES;
  const argv = spawnArgv(
    socket,
    isLong ? [verbs.sourceStdin()] : list,
    config === undefined ? {} : { config },
  );
  const input = isLong ? { stdin: `${line}\n` } : {};
  const result = await commands.run(argv, { ...options, ...input, signal });
  const [notStarted] = NO_SERVER.exec(result.stderr) ?? [];
  if (notStarted !== undefined) throw new TmuxError(notStarted);
  if (result.code === 0) return decoder.decode(result.stdout).replace(/\n$/, "");
  if (result.code === 127) throw new TmuxError("cannot run tmux: it is not installed");
  const isLate = signal.aborted && result.code >= SIGNALLED;
  if (isLate) {
    throw new TmuxError(`tmux did not answer within ${REQUEST_LIMIT_MS} ms`, { lost: true, late: true });
  }
  const message = result.stderr.trim();
  const lost = result.code >= SIGNALLED || SERVER_GONE.test(message);
  const printed = decoder.decode(result.stdout);
  throw new TmuxError(message || `tmux exited with ${result.code}`, { lost, printed });
}

/** Every run is one tmux process. */
export function spawningServer(commands: Pick<Commands, "run">, socket: string): TmuxServer {
  return { socket, run: (...list) => runTmux(commands, list, { socket }) };
}

const NAMES = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL"],
  ...["TERM", "COLORTERM", "LANG", "TZ"],
  ...["TMUX_TMPDIR", "TMPDIR"],
]);
/** When a terminal attaches, tmux copies these into the session (`update-environment`) and clears the absent ones. */
const TERMINAL_NAMES = new Set([
  ...["DISPLAY", "WINDOWID", "XAUTHORITY", "KRB5CCNAME"],
  ...["SSH_AGENT_PID", "SSH_AUTH_SOCK", "SSH_CONNECTION"],
]);

/** The environment of tmux clients: only what tmux itself reads. `attaches`: the client shows the session in a terminal. */
export function tmuxEnvironment(
  env: Readonly<Record<string, string>>,
  { attaches = false }: { attaches?: boolean } = {},
): Record<string, string> {
  const isKept = (name: string): boolean =>
    NAMES.has(name) || name.startsWith("LC_") || (attaches && TERMINAL_NAMES.has(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}

/** Runs commands with this environment. */
export function withEnvironment(
  commands: Pick<Commands, "run" | "pipe">,
  env: Record<string, string>,
): Pick<Commands, "run" | "pipe"> {
  return {
    run: (argv, options) => commands.run(argv, { ...options, env }),
    pipe: (argv, options) => commands.pipe(argv, { ...options, env }),
  };
}

const SEPARATOR = "\t";

/**
 * A variable's value on one line: tmux prints paths and program names unescaped, and a line feed in one could pass for
 * a record.
 */
export function oneLine(variable: string): string {
  return `#{s/[\u0001-\u001f]/?/:${variable}}`;
}

/** A format that prints `tag` and then each field's value, in the order of the record's keys. */
export function fieldsFormat(tag: string, fields: Record<string, string>): string {
  return [tag, ...Object.values(fields)].join(SEPARATOR);
}

/**
 * Parses a record that fieldsFormat printed. Undefined if the line has another tag or too few fields. The last field
 * may contain tabs, so a path goes there.
 */
export function parseFields<K extends string>(
  line: string,
  options: { tag: string; fields: Record<K, string> },
): Record<K, string> | undefined {
  const [tag, ...values] = line.split(SEPARATOR);
  const names = Object.keys(options.fields) as K[];
  if (tag !== options.tag || values.length < names.length) return undefined;
  const last = names.length - 1;
  const value = (index: number): string =>
    (index === last ? values.slice(last).join(SEPARATOR) : values[index]) ?? "";
  return Object.fromEntries(names.map((name, index) => [name, value(index)])) as Record<K, string>;
}

export interface TrustHost {
  uid: number;
  files: Pick<Files, "info" | "realPath">;
}

/** `path` is resolved, and no other account can replace a folder on it. `absent`: nothing is there. */
export type SocketTrust =
  | { kind: "trusted"; path: string }
  | { kind: "absent" }
  | { kind: "refused"; why: string };

const ROOT = 0;
const OTHERS_WRITE = 0o022;
const ANYONE_WRITES = 0o002;
/** In a sticky folder such as `/tmp` only its owner can remove an entry. */
const STICKY = 0o1000;

export async function socketTrust(path: string, host: TrustHost): Promise<SocketTrust> {
  try {
    return await judge(path, host);
  } catch (error) {
    return { kind: "refused", why: unreadable(path, error) };
  }
}

async function judge(path: string, host: TrustHost): Promise<SocketTrust> {
  const resolved = await host.files.realPath(path);
  if (resolved === undefined) return { kind: "absent" };
  const fault = folderFault(folderOf(resolved), host);
  const info = await host.files.info(resolved);
  if (!info?.isSocket) return { kind: "absent" };
  const why = socketFault(resolved, info, host.uid) ?? await fault;
  return why === undefined ? { kind: "trusted", path: resolved } : { kind: "refused", why };
}

/** Like `socketTrust`, for a folder of sockets. */
export async function folderTrust(folder: string, host: TrustHost): Promise<SocketTrust> {
  try {
    const path = await host.files.realPath(folder);
    if (path === undefined) return { kind: "absent" };
    const why = await folderFault(path, host);
    return why === undefined ? { kind: "trusted", path } : { kind: "refused", why };
  } catch (error) {
    return { kind: "refused", why: unreadable(folder, error) };
  }
}

/** Why another account could put a socket into this folder or one above it. Undefined if none can. */
async function folderFault(folder: string, host: TrustHost): Promise<string | undefined> {
  const faults = await Promise.all(
    upwards(folder).map(async (path) => {
      const info = await host.files.info(path).catch((error) => unreadable(path, error));
      if (typeof info !== "object") return info ?? `"${path}" does not exist`;
      if (!isOwn(info, host.uid)) return `"${path}" belongs to user ${info.uid}`;
      if ((info.mode & OTHERS_WRITE) === 0 || (info.mode & STICKY) !== 0) return undefined;
      return `others can write to "${path}" (mode ${modeText(info)})`;
    }),
  );
  return faults.find((why) => why !== undefined);
}

/** A folder and all above it. */
function upwards(folder: string): string[] {
  return folder === "/" ? ["/"] : [folder, ...upwards(folderOf(folder))];
}

function socketFault(path: string, info: FileInfo, uid: number): string | undefined {
  if (info.uid !== uid) return `"${path}" belongs to user ${info.uid}`;
  return (info.mode & ANYONE_WRITES) === 0
    ? undefined
    : `others can write to "${path}" (mode ${modeText(info)})`;
}

/** The folder may be closed to this account, or a symlink loop. */
function unreadable(path: string, error: unknown): string {
  return `"${path}" cannot be read (${errorText(error)})`;
}

function isOwn({ uid }: FileInfo, own: number): boolean {
  return uid === own || uid === ROOT;
}

function modeText({ mode }: FileInfo): string {
  return mode.toString(8).padStart(4, "0");
}

/** The log names at most this many rejected sockets and folders. */
const DISTRUSTED_MAX = 100;

/** Logs each rejected path and reason once, up to DISTRUSTED_MAX of them. */
export function distrustLog(log: (line: string) => void): (path: string, why: string) => void {
  const logged = new Set<string>();
  return (path, why) => {
    const line = `tmux: "${path}" is not used: ${why}`;
    if (logged.has(line) || logged.size >= DISTRUSTED_MAX) return;
    logged.add(line);
    log(line);
  };
}
