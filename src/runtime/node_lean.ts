/** The part of the Node runtime that an agent's hook needs: the agent waits while its modules load. */
import process from "node:process";
import { chmod } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { encodeUtf8 } from "../async/encodings.ts";
import { DEFAULT_SIZE, type KeySource, rawInput, splitLines } from "./input.ts";
import { files } from "./node_files.ts";
import {
  checkSocketPath,
  homeFrom,
  isInOwnFolder,
  NOBODY_LISTENS,
  nodeProblem,
  SOCKET_MODE,
  SOCKET_UMASK,
  unless,
  writeFully,
} from "./system.ts";
import type { LeanRuntime, LineConnection, LocalSockets, Terminal } from "./types.ts";

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

async function readAll({ strict = false } = {}): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
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
};

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
  env: { get: (name) => process.env[name], all: allVariables },
  files,
  sockets,
  terminal,
  problem: nodeProblem(process.versions.node),
  exit,
};
