/** The part of the Node runtime that an agent's hook needs: the agent waits while its modules load. */
import process from "node:process";
import {
  access,
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { constants, fdatasync, type Stats, writeSync } from "node:fs";
import { dirname } from "node:path";
import { isatty } from "node:tty";
import { promisify } from "node:util";
import { encodeUtf8 } from "../async/encodings.ts";
import { DEFAULT_SIZE, type KeySource, plainInput, rawInput, splitLines } from "./input.ts";
import {
  checkSocketPath,
  codeOf,
  homeFrom,
  inTemporary,
  isInOwnFolder,
  MISSING,
  NOBODY_LISTENS,
  nodeProblem,
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

const FORBIDDEN = ["EACCES", "EPERM"];

function toInfo(found: Stats): FileInfo {
  return {
    isFile: found.isFile(),
    isDirectory: found.isDirectory(),
    isSymlink: found.isSymbolicLink(),
    isSocket: found.isSocket(),
    size: found.size,
    mode: found.mode & 0o7777,
    uid: found.uid,
    mtimeMs: Math.trunc(found.mtimeMs),
  };
}

/** Sets the mode before the first byte: others must not read the new text through the old mode. */
async function writeTo(
  file: FileHandle,
  text: string,
  { path, mode }: { path: string; mode?: number },
): Promise<void> {
  if (mode !== undefined) await file.chmod(mode);
  writeToFile(path, { write: (bytes) => writeSync(file.fd, bytes), bytes: encodeUtf8(text) });
}

async function writeText(path: string, text: string, options: { mode?: number } = {}): Promise<void> {
  const file = await open(path, "w", options.mode);
  try {
    await writeTo(file, text, { path, ...options });
  } finally {
    await file.close();
  }
}

async function createText(path: string, text: string, options: { mode?: number } = {}): Promise<boolean> {
  const file = await unless(["EEXIST"], open(path, "wx", options.mode), undefined);
  if (file === undefined) return false;
  try {
    await writeTo(file, text, { path, ...options });
    return true;
  } catch (error) {
    await files.remove(path);
    throw error;
  } finally {
    await file.close();
  }
}

/** Follows a link to the file behind it, and keeps the mode of an existing file unless `mode` is given. */
async function replaceText(path: string, text: string, options: { mode?: number } = {}): Promise<void> {
  const target = await files.realPath(path) ?? path;
  const mode = options.mode ?? (await files.info(target))?.mode;
  const temporary = `${target}.${process.pid}.${crypto.randomUUID()}.tmp`;
  const file = await open(temporary, "wx", mode);
  try {
    await writeTo(file, text, { path: temporary, mode });
    await file.datasync();
    await rename(temporary, target);
  } catch (error) {
    await files.remove(temporary);
    throw error;
  } finally {
    await file.close();
  }
}

async function openAppend(path: string, options: { mode?: number } = {}): Promise<AppendFile> {
  const file = await open(path, "a", options.mode);
  const sync = promisify(fdatasync);
  return {
    append(text) {
      const bytes = typeof text === "string" ? encodeUtf8(text) : text;
      writeToFile(path, { write: (rest) => writeSync(file.fd, rest), bytes });
      return Promise.resolve();
    },
    sync: () => sync(file.fd),
    async sizeInPlace() {
      const [opened, found] = await Promise.all([file.stat(), unless(MISSING, stat(path), undefined)]);
      return opened.ino === found?.ino && opened.dev === found.dev ? found.size : undefined;
    },
    // A file system may report a failed write only on close. It is ignored: what must be stored has been synced.
    close: () => void file.close().catch(() => {}),
  };
}

async function remove(path: string, options: { recursive?: boolean } = {}): Promise<boolean> {
  const found = await unless(MISSING, lstat(path), undefined);
  if (found === undefined) return false;
  // Not `rm`: it also succeeds when another call has just removed the file.
  if (!found.isDirectory()) return await unless(MISSING, unlink(path).then(() => true), false);
  if (options.recursive) await rm(path, options);
  else await rmdir(path);
  return true;
}

async function isExecutable(path: string): Promise<boolean> {
  const info = await files.info(path);
  if (info === undefined || !info.isFile) return false;
  return await unless(FORBIDDEN, access(path, constants.X_OK).then(() => true), false);
}

/** Node's own recursion never ends below a folder that exists and takes no entries, such as /proc/sys. */
async function makeDirectory(path: string, options: { mode?: number } = {}): Promise<void> {
  const parent = dirname(path);
  const isThere = async (folder: string): Promise<boolean> =>
    (await unless(MISSING, stat(folder), undefined))?.isDirectory() === true;
  try {
    return void await mkdir(path, options);
  } catch (error) {
    const isParentMissing = codeOf(error) === "ENOENT" && parent !== path;
    if (!isParentMissing && await isThere(path)) return;
    if (!isParentMissing) throw error;
  }
  // Another process may have made it by now.
  if (!await isThere(parent)) await makeDirectory(parent, options);
  await mkdir(path, options).catch(async (error) => {
    if (!await isThere(path)) throw error;
  });
}

export const files: Files = {
  readText: (path) => unless(MISSING, readFile(path, "utf8"), undefined),
  readBytes: (path) => unless(MISSING, readFile(path).then((bytes) => new Uint8Array(bytes)), undefined),
  writeText,
  replaceText,
  createText,
  openAppend,
  remove,
  rename,
  makeDirectory,
  makeTempDirectory: (prefix) => inTemporary(process.env.TMPDIR, (folder) => mkdtemp(`${folder}/${prefix}`)),
  list: (path) => unless(MISSING, readdir(path).then((names) => names.sort()), []),
  info: (path) => unless(MISSING, stat(path).then(toInfo), undefined),
  entryInfo: (path) => unless(MISSING, lstat(path).then(toInfo), undefined),
  chmod,
  readLink: (path) => unless([...MISSING, "EINVAL"], readlink(path), undefined),
  realPath: (path) => unless(MISSING, realpath(path), undefined),
  isExecutable,
};

/** Yields chunks until either side closes or the connection is reset. */
async function* readChunks(socket: Socket): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of socket) yield chunk;
  } catch {
    return;
  }
}

function toConnection(socket: Socket): LineConnection {
  socket.on("error", () => {});
  const close = (): void => void socket.destroy();
  async function* readLines(): AsyncIterable<string> {
    try {
      yield* splitLines(readChunks(socket));
    } finally {
      close();
    }
  }
  return { lines: readLines(), send: (line) => write(socket, `${line}\n`), close };
}

function write(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(text, (error) => error ? reject(error) : resolve());
  });
}

/** Binding happens inside `listen`, so the umask covers it. */
function bind(server: Server, path: string): Promise<void> {
  const before = process.umask(SOCKET_UMASK);
  try {
    return new Promise((resolve, reject) => server.once("error", reject).listen(path, resolve));
  } finally {
    process.umask(before);
  }
}

async function listen(
  path: string,
  onConnection: (connection: LineConnection) => void,
): Promise<{ close(): void }> {
  checkSocketPath(path);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    onConnection(toConnection(socket));
  });
  await bind(server, path);
  await chmod(path, SOCKET_MODE);
  return {
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function dial(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

async function connect(path: string): Promise<LineConnection | undefined> {
  checkSocketPath(path);
  if (!await isInOwnFolder(path, { files, uid })) return undefined;
  const socket = await unless(NOBODY_LISTENS, dial(path), undefined);
  return socket && toConnection(socket);
}

const uid = process.getuid?.() ?? -1;
const sockets: LocalSockets = { listen, connect };

const input = 0;
const output = 1;
const errors = 2;

let isRaw = false;

function setRaw(on: boolean): void {
  if (on === isRaw || !isatty(input)) return;
  process.stdin.setRawMode(on);
  isRaw = on;
}

/** Restores the terminal, for a program that exits while it reads keys. */
function restoreTerminal(): void {
  setRaw(false);
}

function size(): { columns: number; rows: number } {
  if (!isatty(output)) return DEFAULT_SIZE;
  const { columns, rows } = process.stdout;
  return columns > 0 && rows > 0 ? { columns, rows } : DEFAULT_SIZE;
}

function openKeys(): KeySource {
  const chunks: AsyncIterator<Uint8Array> = process.stdin[Symbol.asyncIterator]();
  return {
    setRaw,
    async read() {
      const { value, done } = await chunks.next();
      return done ? undefined : new Uint8Array(value);
    },
    stop: () => void process.stdin.destroy(),
  };
}

async function readAll({ strict = false, maxBytes = Infinity } = {}): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RangeError(`stdin has more than ${maxBytes} bytes`);
  }
  return new TextDecoder("utf-8", { fatal: strict }).decode(Buffer.concat(chunks));
}

const terminal: Terminal = {
  isInputTerminal: () => isatty(input),
  isOutputTerminal: () => isatty(output),
  size,
  write: (text) => writeFully((bytes) => writeSync(output, bytes), encodeUtf8(text)),
  writeError: (text) => writeFully((bytes) => writeSync(errors, bytes), encodeUtf8(text)),
  readAll,
  rawInput: () => rawInput(openKeys),
  input: () => plainInput(openKeys),
};

export const env = new UserEnvironment({ get: (name) => process.env[name], all: allVariables });

function allVariables(): Record<string, string> {
  const set = Object.entries(process.env).filter((entry): entry is [string, string] =>
    entry[1] !== undefined
  );
  return Object.fromEntries(set);
}

function exit(code: number): never {
  restoreTerminal();
  return process.exit(code);
}

export const runtime: LeanRuntime = {
  args: process.argv.slice(2),
  uid,
  homeDirectory: () => homeFrom(process.env.HOME),
  env,
  files,
  sockets,
  terminal,
  problem: nodeProblem(process.versions.node),
  exit,
};
