/** Builds every tmux command, and its forms for a spawned process, a control client and a nested command. */
import { encodeUtf8 } from "../async/encodings.ts";
import { shellLine } from "../runtime/system.ts";

/** One tmux command and its arguments, which are data and never syntax. */
export type TmuxCommand = readonly string[];

/** Arguments that need no quotes. One that begins with `%` is a pane id, or else syntax. */
const SAFE_WORD = /^(%\d+|[A-Za-z0-9_@=:,.\/+-][A-Za-z0-9_@%=:,.\/+-]*)$/;

/**
 * Quotes an argument for tmux's own parser: double quotes with octal escapes for all but plain bytes, which is exact for
 * all text without NUL (a bare `~`, `#`, `$`, `;` or line feed is syntax).
 */
export function quoteWord(word: string): string {
  if (SAFE_WORD.test(word)) return word;
  let quoted = "";
  for (const byte of encodeUtf8(word)) {
    const plain = byte >= 0x20 && byte < 0x7f && !`"\\$~;#{}'`.includes(String.fromCharCode(byte));
    quoted += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return `"${quoted}"`;
}

/** Commands as one line for a control client, or as the argument of `if-shell`. */
export function commandLine(commands: readonly TmuxCommand[]): string {
  return commands.map((command) => command.map(quoteWord).join(" ")).join(" ; ");
}

/**
 * argv of one tmux process that runs the commands in order. In argv a word's trailing `;` ends a command, so it is escaped.
 * `config` replaces the user's tmux.conf if this process starts the server.
 */
export function spawnArgv(
  socket: string | undefined,
  commands: readonly TmuxCommand[],
  { config }: { config?: string } = {},
): string[] {
  const server = [
    ...(config === undefined ? [] : ["-f", config]),
    ...(socket === undefined ? [] : ["-S", socket]),
  ];
  const words = commands.map((command) =>
    command.map((word) => word.endsWith(";") ? `${word.slice(0, -1)}\\;` : word)
  );
  return ["tmux", "-u", ...server, ...words.flatMap((command, index) => index ? [";", ...command] : command)];
}

/**
 * argv of a control-mode client of `session`. It never resizes and leaves the session's environment alone; `output`: it
 * gets the output of the session's panes.
 */
export function controlArgv(socket: string, session: string, { output = false } = {}): string[] {
  const flags = output ? "ignore-size" : "ignore-size,no-output";
  return ["tmux", "-u", "-S", socket, "-C", "attach-session", "-E", "-t", exactSession(session), "-f", flags];
}

/** Matches the command line of a client that controlArgv starts. */
export const CONTROL_CLIENT = /^\S*tmux -u -S .+ -C attach-session -E -t =\S+ -f ignore-size(,no-output)?$/;

/** The command with which people attach to the session from another terminal. */
export function attachLine(socket: string | undefined, session: string): string {
  return shellLine(["tmux", ...(socket ? ["-S", socket] : []), "attach", "-t", session]);
}

/** A format that expands to this text. tmux halves `##`, but before `[`, where a style begins, it keeps every `#`. */
export function formatText(text: string): string {
  return text.replace(/#+(?![#[])/g, "$&$&");
}

/** Matches the session's name exactly; a bare name would match by prefix. */
export function exactSession(name: string): string {
  return `=${name}`;
}

/** The active pane of exactly this session. A pane target needs the colon. */
export function exactPane(name: string): string {
  return `=${name}:`;
}

export interface NewSession {
  name: string;
  directory: string;
  size?: { columns: number; rows: number };
  env: Readonly<Record<string, string>>;
  argv: readonly string[];
  /** The format that is printed for the session's first pane, before the user's hooks run. */
  print?: string;
}

/**
 * A tmux format, true from 3.7 on: there `paste-buffer` writes control characters as `^[` unless it is given `-S`,
 * which older ones refuse. Detected by a variable that was added a month later, because the versions of OpenBSD and of
 * builds from source do not show it.
 */
const CHANGES_PASTES = "#{!=:#{bracket_paste_flag},}";

export const verbs = {
  /** Prints a format; `target` is a pane id or exactPane(). */
  print: (target: string, format: string): TmuxCommand => ["display-message", "-p", "-t", target, format],
  printPlain: (text: string): TmuxCommand => ["display-message", "-p", text],
  /** Lists the panes of all sessions; `filter`: only panes for which this format is true. */
  listPanes: (format: string, filter?: string): TmuxCommand => [
    ...["list-panes", "-a", "-F", format],
    ...(filter === undefined ? [] : ["-f", filter]),
  ],
  /** Lists the panes of all windows of one session, given by its id. */
  listSessionPanes: (
    sessionId: string,
    format: string,
  ): TmuxCommand => ["list-panes", "-s", "-t", sessionId, "-F", format],
  listClients: (format: string): TmuxCommand => ["list-clients", "-F", format],
  /** The visible screen as text; wrapped lines stay separate. */
  captureScreen: (pane: string): TmuxCommand => ["capture-pane", "-p", "-t", pane],
  /**
   * The screen with its attributes, which carry over from line to line, and trailing blanks. `saved`: the normal screen
   * behind the alternate one, or nothing if there is none. `history`: this many lines above the screen instead.
   */
  captureCells: (pane: string, part: { saved?: boolean; history?: number } = {}): TmuxCommand => [
    ...["capture-pane", "-p", "-e", "-N", "-t", pane],
    ...(part.saved ? ["-a", "-q"] : []),
    ...historyRange(part.history),
  ],
  /** The same lines without attributes, wrapped ones joined. */
  captureJoined: (pane: string, part: { saved?: boolean; history?: number } = {}): TmuxCommand => [
    ...["capture-pane", "-p", "-J", "-t", pane],
    ...(part.saved ? ["-a", "-q"] : []),
    ...historyRange(part.history),
  ],
  /** The beginning of a sequence that the pane's program has not finished yet, with control characters in octal. */
  capturePending: (pane: string): TmuxCommand => ["capture-pane", "-p", "-P", "-C", "-t", pane],
  /** Whether this control client gets the pane's output. Pausing drops pending output and never blocks the program. */
  paneOutput: (pane: string, state: "pause" | "continue"): TmuxCommand => [
    "refresh-client",
    "-A",
    `${pane}:${state}`,
  ],
  /** Notifies this control client within a second when `format` changes for `what`, the id of a window or a pane. */
  subscribe: (name: string, { what, format }: { what: string; format: string }): TmuxCommand => [
    "refresh-client",
    "-B",
    `${name}:${what}:${format}`,
  ],
  /** Gives the window this size, whatever clients are attached. `target`, here and below: its id or that of a pane in it. */
  resizeWindow: (target: string, { cols, rows }: { cols: number; rows: number }): TmuxCommand => [
    ...["resize-window", "-t", target],
    ...["-x", String(cols), "-y", String(rows)],
  ],
  /** Prints the value set on the window itself, or nothing. */
  showWindowOption: (
    target: string,
    option: string,
  ): TmuxCommand => ["show-options", "-w", "-v", "-t", target, option],
  setWindowOption: (target: string, option: string, value: string): TmuxCommand => [
    ...["set-option", "-w", "-t", target],
    option,
    value,
  ],
  unsetWindowOption: (
    target: string,
    option: string,
  ): TmuxCommand => ["set-option", "-w", "-u", "-t", target, option],
  /** Runs one of two command lists, depending on `format`, in the same command queue: nothing happens in between. */
  ifFormat: (
    pane: string,
    format: string,
    { then, otherwise = [] }: { then: TmuxCommand[]; otherwise?: TmuxCommand[] },
  ): TmuxCommand => [
    "if-shell",
    "-F",
    "-t",
    pane,
    format,
    commandLine(then),
    ...(otherwise.length === 0 ? [] : [commandLine(otherwise)]),
  ],
  /** Types text as keys, literally (docs/specification.md, Injection). */
  sendLiteral: (pane: string, text: string): TmuxCommand => ["send-keys", "-l", "-t", pane, "--", text],
  sendKey: (pane: string, key: string): TmuxCommand => ["send-keys", "-t", pane, key],
  /** Appends to a paste buffer; creates it if needed. */
  appendBuffer: (buffer: string, text: string): TmuxCommand => ["set-buffer", "-a", "-b", buffer, "--", text],
  deleteBuffer: (buffer: string): TmuxCommand => ["delete-buffer", "-b", buffer],
  listBuffers: (format: string): TmuxCommand => ["list-buffers", "-F", format],
  /**
   * Pastes the buffer as it is and deletes it. `marks`: with bracketed-paste marks if the program requested them;
   * `next`: commands that run after the paste.
   */
  pasteBuffer: (
    buffer: string,
    pane: string,
    options: { marks: boolean; next?: TmuxCommand[] },
  ): TmuxCommand => {
    const flags = ["-r", "-d", "-b", buffer, "-t", pane];
    const paste = ["paste-buffer", ...(options.marks ? ["-p"] : []), ...flags];
    const { next = [] } = options;
    return verbs.ifFormat(pane, CHANGES_PASTES, {
      then: [[...paste, "-S"], ...next],
      otherwise: [paste, ...next],
    });
  },
  /** Leaves the pane's mode. The user's `copy-mode` hook runs only if the pane is in one. */
  leaveModes: (pane: string): TmuxCommand =>
    verbs.ifFormat(pane, "#{pane_in_mode}", { then: [["copy-mode", "-q", "-t", pane]] }),
  /** The server's global environment, one `NAME=value` on each line, or `-NAME` for a variable that is removed. */
  showEnvironment: (): TmuxCommand => ["show-environment", "-g"],
  startServer: (): TmuxCommand => ["start-server"],
  killServer: (): TmuxCommand => ["kill-server"],
  /** Runs the command lines on stdin: tmux takes at most 16 KB of argv. */
  sourceStdin: (): TmuxCommand => ["source-file", "-"],
  /** Pipes the pane's output into a shell command, in which tmux would expand formats and the time. */
  pipePane: (pane: string, shellCommand: string): TmuxCommand => [
    ...["pipe-pane", "-t", pane],
    formatText(shellCommand).replaceAll("%", "%%"),
  ],
  killPane: (pane: string): TmuxCommand => ["kill-pane", "-t", pane],
  killSession: (name: string): TmuxCommand => ["kill-session", "-t", exactSession(name)],
  hasSession: (name: string): TmuxCommand => ["has-session", "-t", exactSession(name)],
  /** tmux resolves a session option by a pane target: a pane id or exactPane(). */
  setSessionOption: (pane: string, option: string, value: string): TmuxCommand => [
    ...["set-option", "-t", pane],
    option,
    value,
  ],
  /** Sets an option of the pane's session to what the format gives for the pane. */
  setSessionOptionFrom: (pane: string, option: string, format: string): TmuxCommand => [
    ...["set-option", "-F", "-t", pane],
    option,
    format,
  ],
  setServerOption: (option: string, value: string): TmuxCommand => ["set-option", "-s", option, value],
  setPaneOption: (pane: string, option: string, value: string): TmuxCommand => [
    ...["set-option", "-p", "-t", pane],
    option,
    value,
  ],
  attach: (name: string): TmuxCommand => ["attach-session", "-t", exactSession(name)],
  /**
   * A detached session whose pane process is `argv` itself. tmux would run a single argument through a shell, and it
   * expands formats in the directory.
   */
  newSession: (options: NewSession): TmuxCommand => [
    "new-session",
    "-d",
    ...(options.print === undefined ? [] : ["-P", "-F", options.print]),
    "-s",
    options.name,
    ...(options.size ? ["-x", String(options.size.columns), "-y", String(options.size.rows)] : []),
    "-c",
    formatText(options.directory),
    ...Object.entries(options.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
    "--",
    ...options.argv,
  ],
};

/**
 * The commands of svc about which tmux notifies all control clients: on 3.3a those for modes and sessions, from 3.4 on
 * those for buffers too.
 */
const NEWS = /\b(?:copy-mode|set-buffer|paste-buffer|delete-buffer|kill-pane|kill-session)\b/;

/** True if tmux may notify every control client when these run; a text that names such a command counts as one. */
export function areNews(commands: readonly TmuxCommand[]): boolean {
  return commands.some((command) => command.some((word) => NEWS.test(word)));
}

function historyRange(lines: number | undefined): string[] {
  return lines === undefined ? [] : ["-S", String(-lines), "-E", "-1"];
}
