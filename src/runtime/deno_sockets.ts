/** Unix-domain sockets on Deno. */

import { Mutex } from "../async/mutex.ts";
import { codeOf, NOBODY_LISTENS, unless } from "./failure.ts";
import { splitLines } from "./lines.ts";
import { checkSocketPath, SOCKET_MODE, SOCKET_UMASK } from "./socket_path.ts";
import type { LineConnection, LocalSockets } from "./types.ts";

function bind(path: string): Deno.UnixListener {
  const before = Deno.umask(SOCKET_UMASK);
  try {
    return Deno.listen({ transport: "unix", path });
  } finally {
    Deno.umask(before);
  }
}

/** Bytes until the peer ends; a reset or a close from this side is an end like any other. */
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

  /** Lines leave in the order of the calls, each whole. */
  send(line: string): Promise<void> {
    return this.#sending.run(() => this.#write(new TextEncoder().encode(`${line}\n`)));
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

async function accept(
  listener: Deno.UnixListener,
  open: Set<LineConnection>,
  onConnection: (connection: LineConnection) => void,
): Promise<void> {
  for await (const accepted of listener) {
    const connection = new DenoLineConnection(accepted, () => open.delete(connection));
    open.add(connection);
    onConnection(connection);
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
  const connecting = Deno.connect({ transport: "unix", path });
  const connection = await unless(NOBODY_LISTENS, connecting, undefined);
  return connection && new DenoLineConnection(connection);
}

export const sockets: LocalSockets = { listen, connect };
