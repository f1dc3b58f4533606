/** The interface that `deno.ts` and `node.ts` implement: `#runtime` is the whole, `#runtime-lean` the part for hooks. */

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGWINCH" | "SIGKILL" | "SIGCONT" | "SIGSTOP";

export interface FileInfo {
  isFile: boolean;
  isDirectory: boolean;
  isSymlink: boolean;
  isSocket: boolean;
  size: number;
  /** Permission bits, for example 0o600. */
  mode: number;
  uid: number;
  /** Epoch milliseconds. */
  mtimeMs: number;
}

/** A file open for appending. */
export interface AppendFile {
  /** Appends in the order of the calls. */
  append(text: string | Uint8Array): Promise<void>;
  /** Resolves once everything appended is on the disk (fdatasync). */
  sync(): Promise<void>;
  /** Bytes of the file at its path; undefined if this file was removed, moved or replaced. */
  sizeInPlace(): Promise<number | undefined>;
  close(): void;
}

/** Reading what does not exist gives undefined or an empty list; other failures throw an Error with `code`. */
export interface Files {
  readText(path: string): Promise<string | undefined>;
  readBytes(path: string): Promise<Uint8Array | undefined>;
  /** Creates or truncates the file; `mode` also applies to an existing one. */
  writeText(path: string, text: string, options?: { mode?: number }): Promise<void>;
  /**
   * Replaces the file atomically (temporary file, sync, rename): readers see the old or the new text, never a part.
   * Follows a link to the file behind it; without `mode` an existing file keeps its own.
   */
  replaceText(path: string, text: string, options?: { mode?: number }): Promise<void>;
  /** Creates the file; returns false when the path exists. */
  createText(path: string, text: string, options?: { mode?: number }): Promise<boolean>;
  openAppend(path: string, options?: { mode?: number }): Promise<AppendFile>;
  /** Returns false when there was nothing to remove. Of several calls for the same file, only one returns true. */
  remove(path: string, options?: { recursive?: boolean }): Promise<boolean>;
  rename(from: string, to: string): Promise<void>;
  /** Creates the directory and its parents; succeeds if it exists. */
  makeDirectory(path: string, options?: { mode?: number }): Promise<void>;
  makeTempDirectory(prefix: string): Promise<string>;
  /** Names, sorted. */
  list(path: string): Promise<string[]>;
  /** Follows links. */
  info(path: string): Promise<FileInfo | undefined>;
  /** Does not follow a link: its owner can redirect it at any time. */
  entryInfo(path: string): Promise<FileInfo | undefined>;
  chmod(path: string, mode: number): Promise<void>;
  readLink(path: string): Promise<string | undefined>;
  realPath(path: string): Promise<string | undefined>;
  /** True when the file exists and this user may execute it. */
  isExecutable(path: string): Promise<boolean>;
}

export interface RunOptions {
  cwd?: string;
  /** Replaces the environment; without it the child gets this process's. */
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** Kills the child when it fires. */
  signal?: AbortSignal;
}

export interface RunResult {
  /** Exit code; 128 + signal number when a signal ended it; 127 when the program was not found. */
  code: number;
  stdout: Uint8Array;
  stderr: string;
}

/** A child with pipes. Both outputs must be read, or the child blocks when a pipe is full. */
export interface PipedChild {
  pid: number;
  stdin: { write(bytes: Uint8Array): Promise<void>; close(): void };
  stdout: AsyncIterable<Uint8Array>;
  stderr: AsyncIterable<Uint8Array>;
  kill(signal?: Signal): void;
  /** Exit code as in RunResult. */
  exited: Promise<number>;
}

export interface Commands {
  /** Runs to the end and collects the output. Never throws for a missing program: code 127. */
  run(argv: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Runs on this terminal (stdio inherited); returns the exit code. */
  runInherited(
    argv: readonly string[],
    options?: { cwd?: string; env?: Record<string, string> },
  ): Promise<number>;
  /** Throws when the program cannot be started. */
  pipe(argv: readonly string[], options?: { cwd?: string; env?: Record<string, string> }): PipedChild;
  /** Starts a process in a new session, stdout and stderr appended to `logFile` (0600); returns its pid. */
  spawnDetached(
    argv: readonly string[],
    options: { cwd?: string; env: Record<string, string>; logFile: string },
  ): Promise<number>;
  /** Sends the signal; false when no such process exists (or it is not ours). Signal 0 only checks that it is alive. */
  kill(pid: number, signal: Signal | 0): boolean;
  /** Absolute path of the program as PATH finds it. */
  which(program: string): Promise<string | undefined>;
}

/** A connection of the control socket: a stream of lines. */
export interface LineConnection {
  /** Ends, without an error, when either side closes or a line grows over 8 MiB; leaving the loop closes. */
  lines: AsyncIterable<string>;
  /** Rejects when the connection has ended. */
  send(line: string): Promise<void>;
  close(): void;
}

/** Unix-domain sockets that carry lines of JSON. */
export interface LocalSockets {
  /**
   * Binds with mode 0600; throws with code `EADDRINUSE` when the path exists. `close` also ends the open
   * connections and removes the path.
   */
  listen(
    path: string,
    onConnection: (connection: LineConnection) => void,
  ): Promise<{ close(): void }>;
  /** Undefined when nothing listens there, or the folder belongs to another user. */
  connect(path: string): Promise<LineConnection | undefined>;
}

export interface Terminal {
  isInputTerminal(): boolean;
  isOutputTerminal(): boolean;
  /** Columns and rows of the output terminal, or 80 × 24. */
  size(): { columns: number; rows: number };
  /** Returns when all is written; throws with code `EPIPE` when the reader is gone. */
  write(text: string): void;
  writeError(text: string): void;
  /**
   * All of stdin. With `strict`, rejects with TypeError when it is not UTF-8; else invalid bytes become U+FFFD. Beyond
   * `maxBytes` rejects with RangeError, and reads no further.
   */
  readAll(options?: { strict?: boolean; maxBytes?: number }): Promise<string>;
  /** stdin as chunks, for programs that read keys; raw mode is on from the first read until the iterator ends. */
  rawInput(): AsyncIterable<Uint8Array>;
  /** stdin as chunks; on a terminal a line at a time, and Ctrl-C and Ctrl-D work. */
  input(): AsyncIterable<Uint8Array>;
}

/** Files by path, such as `plugin/svc/.mcp.json`. */
export interface EmbeddedFiles {
  names(): Promise<string[]>;
  read(name: string): Promise<Uint8Array>;
}

export interface Runtime {
  readonly name: "deno" | "node";
  readonly version: string;
  /** The arguments after the program. */
  readonly args: readonly string[];
  readonly pid: number;
  readonly uid: number;
  readonly platform: string;
  hostname(): string;
  /** This machine's IPv4 address on the local network; undefined without a network. */
  lanAddress(): string | undefined;
  cwd(): string;
  homeDirectory(): string;
  env: {
    get(name: string): string | undefined;
    all(): Record<string, string>;
  };
  files: Files;
  commands: Commands;
  sockets: LocalSockets;
  terminal: Terminal;
  /** argv that runs this program again with the same runtime, permissions and import map. */
  selfCommand(): string[];
  /** The parts of svc other than code, embedded in a single-file program; undefined where they are on disk. */
  embedded(): EmbeddedFiles | undefined;
  /** Makes HTTP and WebSockets use the proxies that the environment names. */
  followProxies(): void;
  onSignal(signal: Signal, handler: () => void): () => void;
  /** Resident set size of this process in bytes. */
  memoryBytes(): number;
  /** Why svc does not run on this version of the runtime, and what to do; undefined when it does. */
  readonly problem: string | undefined;
  exit(code: number): never;
}

/** The part of the runtime that an agent's hook needs. */
export type LeanRuntime = Pick<
  Runtime,
  "args" | "uid" | "homeDirectory" | "env" | "files" | "sockets" | "terminal" | "problem" | "exit"
>;
