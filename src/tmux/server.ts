/** Runs commands on a tmux server and returns what they print, as text or as the fields of a format. */
import type { Commands } from "../runtime/types.ts";
import { spawnArgv, type TmuxCommand } from "./argv.ts";

export interface TmuxServer {
  readonly socket: string;
  /** Runs the commands in order and returns their output without the last line feed. Throws TmuxError at the first that fails. */
  run(...commands: TmuxCommand[]): Promise<string>;
}

/** tmux refused a command; `message` is what tmux said. */
export class TmuxError extends Error {
  override name = "TmuxError";
  /** The connection was lost during the command: whether it ran is unknown. */
  readonly lost: boolean;

  constructor(message: string, options: { lost?: boolean } = {}) {
    super(message);
    this.lost = options.lost ?? false;
  }
}

const decoder = new TextDecoder();

export interface TmuxProcess {
  /** Undefined: tmux's default. */
  socket: string | undefined;
  /** Replaces the user's tmux.conf if this process starts the server. */
  config?: string;
  env?: Record<string, string>;
  stdin?: string;
}

/** Runs the commands in order in one tmux process and returns everything they print; throws TmuxError at the first that fails. */
export async function runTmux(
  commands: Pick<Commands, "run">,
  list: readonly TmuxCommand[],
  { socket, config, ...options }: TmuxProcess,
): Promise<string> {
  const result = await commands.run(spawnArgv(socket, list, config === undefined ? {} : { config }), options);
  if (result.code === 0) return decoder.decode(result.stdout).replace(/\n$/, "");
  if (result.code === 127) throw new TmuxError("cannot run tmux: it is not installed");
  throw new TmuxError(result.stderr.trim() || `tmux exited with ${result.code}`);
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

/** A variable's value on one line: tmux prints paths unescaped, and a path with a line feed could pass for a record. */
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
