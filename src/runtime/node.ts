/** The runtime on Node 22 and later. */
import process from "node:process";
import { chmod } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { readlinkSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isatty } from "node:tty";
import { hostname, networkInterfaces } from "node:os";
import { DEFAULT_SIZE, type KeySource, rawInput, splitLines } from "./input.ts";
import { commands } from "./node_commands.ts";
import { files } from "./node_files.ts";
import {
  checkSocketPath,
  EMBEDDED_NAMES,
  hasProxy,
  homeFrom,
  lanAddressAmong,
  NOBODY_LISTENS,
  SOCKET_MODE,
  SOCKET_UMASK,
  temporaryFrom,
  unless,
  writeFully,
} from "./system.ts";
import type { EmbeddedFiles, LineConnection, LocalSockets, Runtime, Signal, Terminal } from "./types.ts";
import { encodeUtf8 } from "../async/encodings.ts";

/** Bytes until the peer closes. A reset, or a close on this side, ends them too. */
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
  const socket = await unless(NOBODY_LISTENS, dial(path), undefined);
  return socket && toConnection(socket);
}

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

async function readAll(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return new TextDecoder().decode(Buffer.concat(chunks));
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

const PROGRAM = "/cli.js";
/** As many as Linux follows. */
const MAX_LINKS = 40;

function lanAddress(): string | undefined {
  const interfaces = Object.entries(networkInterfaces());
  return lanAddressAmong(
    interfaces.flatMap(([name, addresses = []]) => addresses.map((address) => ({ ...address, name }))),
  );
}

function onSignal(signal: Signal, handler: () => void): () => void {
  process.on(signal, handler);
  return () => void process.off(signal, handler);
}

/** Deno runs the npm package too, and gives it no permission by itself. */
const RUN = process.versions.deno === undefined ? [] : ["run", "-A", "--quiet"];

/** npm starts svc by a link, such as `node_modules/.bin/svc`; a process shows its program's own name, `cli.js`. */
function programPath(): string {
  let path = process.argv[1] ?? "";
  for (let links = 0; links < MAX_LINKS && !path.endsWith(PROGRAM); links++) {
    try {
      path = resolve(dirname(path), readlinkSync(path));
    } catch {
      return path;
    }
  }
  return path;
}

/** Asked for by name: no bundle has to find it. */
const sea = process.getBuiltinModule("node:sea");

/** The names are an asset of their own: Node lists its assets only in newer versions. */
function embedded(): EmbeddedFiles | undefined {
  if (!sea?.isSea()) return undefined;
  return {
    names: () => Promise.resolve(JSON.parse(sea.getAsset(EMBEDDED_NAMES, "utf8"))),
    read: (name) => Promise.resolve(new Uint8Array(sea.getAsset(name))),
  };
}

const PROXY_FLAG = "--use-env-proxy";

/** Node ignores them by default. Since 24.14 a call enables them; before that a flag does, so this program restarts with it. */
function followProxies(): void {
  const { execArgv, argv, env, execPath } = process;
  if (!hasProxy(env) || env.NODE_USE_ENV_PROXY !== undefined || execArgv.includes(PROXY_FLAG)) return;
  const http: { setGlobalProxyFromEnv?(): void } = process.getBuiltinModule("node:http");
  if (http.setGlobalProxyFromEnv !== undefined) return http.setGlobalProxyFromEnv();
  const canExecute = "execve" in process && process.allowedNodeEnvironmentFlags.has(PROXY_FLAG);
  if (!canExecute) return;
  const { execve }: { execve?(file: string, args: string[], env: typeof process.env): never } = process;
  execve?.call(process, execPath, [execPath, PROXY_FLAG, ...execArgv, ...argv.slice(1)], env);
}

function exit(code: number): never {
  restoreTerminal();
  return process.exit(code);
}

export const runtime: Runtime = {
  name: "node",
  version: process.versions.node,
  args: process.argv.slice(2),
  pid: process.pid,
  uid: process.getuid?.() ?? -1,
  platform: process.platform,
  hostname,
  lanAddress,
  cwd: () => process.cwd(),
  temporaryDirectory: () => temporaryFrom(process.env.TMPDIR),
  homeDirectory: () => homeFrom(process.env.HOME),
  env: { get: (name) => process.env[name], all: allVariables },
  files,
  commands,
  sockets,
  terminal,
  selfCommand: () => sea?.isSea() ? [process.execPath] : [process.execPath, ...RUN, programPath()],
  embedded,
  followProxies,
  onSignal,
  memoryBytes: () => process.memoryUsage.rss(),
  exit,
};
