/** One control client per tmux server, opened at the first use and closed after a calm while, so that nobody stays attached for nothing. */
import type { Commands } from "../runtime/types.ts";
import { controlArgv } from "./argv.ts";
import { ControlClient } from "./control_client.ts";

/** A client that nobody used for this long is detached. */
export const CONTROL_IDLE_MS = 60_000;

interface Entry {
  client: ControlClient;
  timer: ReturnType<typeof setTimeout>;
}

export class ControlPool {
  #entries = new Map<string, Entry>();
  #commands: Pick<Commands, "pipe">;
  #idleMs: number;

  constructor(commands: Pick<Commands, "pipe">, idleMs: number = CONTROL_IDLE_MS) {
    this.#commands = commands;
    this.#idleMs = idleMs;
  }

  /** The server's client; a new one attaches to `session`, which must exist. Any pane of the server can be addressed. */
  get(socket: string, session: string): ControlClient {
    const entry = this.#entries.get(socket);
    if (entry?.client.alive) {
      clearTimeout(entry.timer);
      entry.timer = this.#expire(socket, entry.client);
      return entry.client;
    }
    const client = new ControlClient(socket, this.#commands.pipe(controlArgv(socket, session)));
    if (entry) clearTimeout(entry.timer);
    this.#entries.set(socket, { client, timer: this.#expire(socket, client) });
    return client;
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) clearTimeout(entry.timer);
    await Promise.all(entries.map((entry) => entry.client.close()));
  }

  #expire(socket: string, client: ControlClient): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      if (this.#entries.get(socket)?.client === client) this.#entries.delete(socket);
      void client.close();
    }, this.#idleMs);
  }
}
