/** Unix-domain sockets on Node. */

import { chmod } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import process from "node:process";
import { NOBODY_LISTENS, unless } from "./failure.ts";
import { splitLines } from "./lines.ts";
import { checkSocketPath, SOCKET_MODE, SOCKET_UMASK } from "./socket_path.ts";
import type { LineConnection, LocalSockets } from "./types.ts";

/** Bytes until the peer ends; a reset or a close from this side is an end like any other. */
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

export const sockets: LocalSockets = { listen, connect };
