/** The part of the Deno runtime that an agent's hook needs: the agent waits while its modules load. */
import { Mutex } from "../async/mutex.ts";
import { encodeUtf8 } from "../async/encodings.ts";
import { DEFAULT_SIZE, type KeySource, plainInput, rawInput, splitLines } from "./input.ts";
import {
  checkSocketPath,
  codeOf,
  directHosts,
  hasProxy,
  homeFrom,
  inTemporary,
  isInOwnFolder,
  MISSING,
  NOBODY_LISTENS,
  SOCKET_MODE,
  SOCKET_UMASK,
  unless,
  UserEnvironment,
  writeFully,
  writeToFile,
} from "./system.ts";
import type {
  AppendFile,
  FileInfo,
  Files,
  LeanRuntime,
  LineConnection,
  LocalSockets,
  Terminal,
} from "./types.ts";

function toInfo(stat: Deno.FileInfo): FileInfo {
  return {
    isFile: stat.isFile,
    isDirectory: stat.isDirectory,
    isSymlink: stat.isSymlink,
    isSocket: stat.isSocket ?? false,
    size: stat.size,
    mode: (stat.mode ?? 0) & 0o7777,
    uid: stat.uid ?? -1,
    mtimeMs: stat.mtime?.getTime() ?? 0,
  };
}

/** Sets the mode before the first byte: others must not read the new text through the old mode. */
function writeTo(file: Deno.FsFile, text: string, options: { path: string; mode?: number }): void {
  if (options.mode !== undefined) Deno.chmodSync(options.path, options.mode);
  writeToFile(options.path, { write: (bytes) => file.writeSync(bytes), bytes: encodeUtf8(text) });
}

async function writeText(path: string, text: string, options: { mode?: number } = {}): Promise<void> {
  const file = await Deno.open(path, { write: true, create: true, truncate: true, ...options });
  try {
    writeTo(file, text, { path, ...options });
  } finally {
    file.close();
  }
}

async function createText(path: string, text: string, options: { mode?: number } = {}): Promise<boolean> {
  const opened = Deno.open(path, { write: true, createNew: true, ...options });
  const file = await unless(["EEXIST"], opened, undefined);
  if (file === undefined) return false;
  try {
    writeTo(file, text, { path, ...options });
    return true;
  } catch (error) {
    await files.remove(path);
    throw error;
  } finally {
    file.close();
  }
}

/** Follows a link to the file behind it, and keeps the mode of an existing file unless `mode` is given. */
async function replaceText(path: string, text: string, options: { mode?: number } = {}): Promise<void> {
  const target = await files.realPath(path) ?? path;
  const mode = options.mode ?? (await files.info(target))?.mode;
  const temporary = `${target}.${Deno.pid}.${crypto.randomUUID()}.tmp`;
  const file = await Deno.open(temporary, { write: true, createNew: true, mode });
  try {
    writeTo(file, text, { path: temporary, mode });
    await file.syncData();
    await Deno.rename(temporary, target);
  } catch (error) {
    await files.remove(temporary);
    throw error;
  } finally {
    file.close();
  }
}

async function openAppend(path: string, options: { mode?: number } = {}): Promise<AppendFile> {
  const file = await Deno.open(path, { append: true, create: true, ...options });
  return {
    append(text) {
      const bytes = typeof text === "string" ? encodeUtf8(text) : text;
      writeToFile(path, { write: (rest) => file.writeSync(rest), bytes });
      return Promise.resolve();
    },
    sync: () => file.syncData(),
    async sizeInPlace() {
      const [opened, found] = await Promise.all([file.stat(), unless(MISSING, Deno.stat(path), undefined)]);
      return opened.ino === found?.ino && opened.dev === found.dev ? found.size : undefined;
    },
    close: () => file.close(),
  };
}

async function names(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(path)) found.push(entry.name);
  return found.sort();
}

/** Uses the permission bits, since Deno has no access(2): the group's bit applies to every other user. */
async function isExecutable(path: string): Promise<boolean> {
  const info = await files.info(path);
  if (info === undefined || !info.isFile) return false;
  const uid = Deno.uid();
  if (uid === 0) return (info.mode & 0o111) !== 0;
  return (info.mode & (uid === info.uid ? 0o100 : 0o011)) !== 0;
}

export const files: Files = {
  readText: (path) => unless(MISSING, Deno.readTextFile(path), undefined),
  readBytes: (path) => unless(MISSING, Deno.readFile(path), undefined),
  writeText,
  replaceText,
  createText,
  openAppend,
  remove: (path, options) => unless(MISSING, Deno.remove(path, options).then(() => true), false),
  rename: (from, to) => Deno.rename(from, to),
  makeDirectory: (path, options) => Deno.mkdir(path, { recursive: true, ...options }),
  makeTempDirectory: (prefix) =>
    inTemporary(Deno.env.get("TMPDIR"), (dir) => Deno.makeTempDir({ dir, prefix })),
  list: (path) => unless(MISSING, names(path), []),
  info: (path) => unless(MISSING, Deno.stat(path).then(toInfo), undefined),
  entryInfo: (path) => unless(MISSING, Deno.lstat(path).then(toInfo), undefined),
  chmod: (path, mode) => Deno.chmod(path, mode),
  readLink: (path) => unless([...MISSING, "EINVAL"], Deno.readLink(path), undefined),
  realPath: (path) => unless(MISSING, Deno.realPath(path), undefined),
  isExecutable,
};

function bind(path: string): Deno.UnixListener {
  const before = Deno.umask(SOCKET_UMASK);
  try {
    return Deno.listen({ transport: "unix", path });
  } finally {
    Deno.umask(before);
  }
}

/** Yields chunks until either side closes or the connection is reset. */
async function* readChunks(connection: Deno.UnixConn): AsyncIterable<Uint8Array> {
  const buffer = new Uint8Array(64 * 1024);
  for (;;) {
    const read = await connection.read(buffer).catch(() => null);
    if (read === null) return;
    yield buffer.subarray(0, read);
  }
}

class DenoLineConnection implements LineConnection {
  readonly lines: AsyncIterable<string>;
  #connection: Deno.UnixConn;
  readonly #sending = new Mutex();
  #isOpen = true;
  #onClose: () => void;

  constructor(connection: Deno.UnixConn, onClose: () => void = () => {}) {
    this.#connection = connection;
    this.#onClose = onClose;
    this.lines = this.#readLines();
  }

  async *#readLines(): AsyncIterable<string> {
    try {
      yield* splitLines(readChunks(this.#connection));
    } finally {
      this.close();
    }
  }

  /** Lines are sent whole, in the order of the calls. */
  send(line: string): Promise<void> {
    return this.#sending.run(() => this.#write(encodeUtf8(`${line}\n`)));
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#connection.close();
    this.#onClose();
  }
}

/** The pause after a connection could not be accepted, in milliseconds. */
const ACCEPT_PAUSE_MS = 100;

async function accept(
  listener: Deno.UnixListener,
  open: Set<LineConnection>,
  onConnection: (connection: LineConnection) => void,
): Promise<void> {
  for (;;) {
    try {
      for await (const accepted of listener) {
        const connection = new DenoLineConnection(accepted, () => open.delete(connection));
        open.add(connection);
        onConnection(connection);
      }
      return;
    } catch (error) {
      // The process is out of file descriptors: clients wait in the socket's queue.
      if (!(error instanceof Error && "code" in error && error.code === "EMFILE")) throw error;
      await new Promise((resolve) => setTimeout(resolve, ACCEPT_PAUSE_MS));
    }
  }
}

async function listen(
  path: string,
  onConnection: (connection: LineConnection) => void,
): Promise<{ close(): void }> {
  checkSocketPath(path);
  const listener = bind(path);
  await Deno.chmod(path, SOCKET_MODE);
  const open = new Set<LineConnection>();
  accept(listener, open, onConnection);
  return {
    close() {
      listener.close();
      removeSocket(path);
      for (const connection of open) connection.close();
    },
  };
}

function removeSocket(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

async function connect(path: string): Promise<LineConnection | undefined> {
  checkSocketPath(path);
  if (!await isInOwnFolder(path, { files, uid })) return undefined;
  const connecting = Deno.connect({ transport: "unix", path });
  const connection = await unless(NOBODY_LISTENS, connecting, undefined);
  return connection && new DenoLineConnection(connection);
}

const uid = Deno.uid() ?? -1;
const sockets: LocalSockets = { listen, connect };

let isRaw = false;

function setRaw(on: boolean): void {
  if (on === isRaw || !Deno.stdin.isTerminal()) return;
  Deno.stdin.setRaw(on);
  isRaw = on;
}

/** Restores the terminal, for a program that exits while it reads keys. */
function restoreTerminal(): void {
  setRaw(false);
}

function size(): { columns: number; rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    return columns > 0 && rows > 0 ? { columns, rows } : DEFAULT_SIZE;
  } catch {
    return DEFAULT_SIZE;
  }
}

function openKeys(): KeySource {
  const reader = Deno.stdin.readable.getReader();
  return {
    setRaw,
    read: async () => (await reader.read()).value,
    stop: () => reader.cancel(),
  };
}

/** Reads without a stream or a Response, which would cost a hook more than all its other work. */
async function readAll({ strict = false, maxBytes = Infinity } = {}): Promise<string> {
  const buffer = new Uint8Array(64 * 1024);
  const decoder = new TextDecoder("utf-8", { fatal: strict });
  let [text, bytes] = ["", 0];
  for (let size = await Deno.stdin.read(buffer); size !== null; size = await Deno.stdin.read(buffer)) {
    bytes += size;
    if (bytes > maxBytes) throw new RangeError(`stdin has more than ${maxBytes} bytes`);
    text += decoder.decode(buffer.subarray(0, size), { stream: true });
  }
  return text + decoder.decode();
}

/** In the flags of /proc/self/fdinfo, which are octal. */
const NONBLOCK = 0o4000;

const reopened: { stdout?: Deno.FsFile; stderr?: Deno.FsFile } = {};

/**
 * Another program may make the pipe or terminal non-blocking at any time. When it is full, Deno's own writer does not say
 * how much it has taken, so that repeating the rest would double some: such an output is opened once more, which makes
 * it block.
 */
function writerOf(name: "stdout" | "stderr"): (bytes: Uint8Array) => number {
  const writer = reopened[name] ?? reopen(name) ?? Deno[name];
  return (bytes) => writer.writeSync(bytes);
}

/** Undefined unless it is a non-blocking pipe or terminal of Linux: a file would lose its offset. */
function reopen(name: "stdout" | "stderr"): Deno.FsFile | undefined {
  const fd = name === "stdout" ? 1 : 2;
  try {
    const [, flags = "0"] = /^flags:\s*(\d+)/m.exec(Deno.readTextFileSync(`/proc/self/fdinfo/${fd}`)) ?? [];
    if ((parseInt(flags, 8) & NONBLOCK) === 0) return undefined;
    const path = `/proc/self/fd/${fd}`;
    if (!Deno[name].isTerminal() && !Deno.readLinkSync(path).startsWith("pipe:")) return undefined;
    return reopened[name] = Deno.openSync(path, { append: true });
  } catch {
    return undefined;
  }
}

const terminal: Terminal = {
  isInputTerminal: () => Deno.stdin.isTerminal(),
  isOutputTerminal: () => Deno.stdout.isTerminal(),
  size,
  write: (text) => writeFully(writerOf("stdout"), encodeUtf8(text)),
  writeError: (text) => writeFully(writerOf("stderr"), encodeUtf8(text)),
  readAll,
  rawInput: () => rawInput(openKeys),
  input: () => plainInput(openKeys),
};

function exit(code: number): never {
  restoreTerminal();
  Deno.exit(code);
}

const env = new UserEnvironment({ get: (name) => Deno.env.get(name), all: () => Deno.env.toObject() });

/** Deno follows the proxies in its environment by itself, also to this machine. */
export function keepProxiesOut(): void {
  const own = env.all();
  if (!hasProxy(own)) return;
  env.keep(own);
  const direct = directHosts(own, Deno.networkInterfaces().map(({ address }) => address));
  for (const name of ["NO_PROXY", "no_proxy"]) Deno.env.set(name, direct);
}

export const runtime: LeanRuntime = {
  args: Deno.args,
  uid,
  homeDirectory: () => homeFrom(Deno.env.get("HOME")),
  env,
  files,
  sockets,
  terminal,
  // No check is needed: the checkout and the built program each determine the version of Deno.
  problem: undefined,
  exit,
};
