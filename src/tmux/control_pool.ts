/** One control client per session in use, opened at the first use and closed after a calm while, so that nobody stays attached for nothing. */
import type { Commands } from "../runtime/types.ts";
import { controlArgv } from "./argv.ts";
import { ControlClient } from "./control_client.ts";

/** A client that nobody used for this long is detached. */
export const CONTROL_IDLE_MS = 60_000;

interface Entry {
  client: ControlClient;
  timer: ReturnType<typeof setTimeout>;
}

/** A client is attached to the session that it types into: it ends with that session and with no other. */
export class ControlPool {
  #entries = new Map<string, Entry>();
  #commands: Pick<Commands, "pipe">;
  #idleMs: number;

  constructor(commands: Pick<Commands, "pipe">, idleMs: number = CONTROL_IDLE_MS) {
    this.#commands = commands;
    this.#idleMs = idleMs;
  }

  /** The session's client, attached now if there is none. */
  get(socket: string, session: string): ControlClient {
    const key = `${socket}\n${session}`;
    const entry = this.#entries.get(key);
    if (entry) clearTimeout(entry.timer);
    const alive = entry?.client.alive ? entry.client : undefined;
    const client = alive ?? new ControlClient(socket, this.#commands.pipe(controlArgv(socket, session)));
    this.#entries.set(key, { client, timer: this.#expire(key, client) });
    return client;
  }

  /** Any client of the server that is open already. */
  open(socket: string): ControlClient | undefined {
    const entries = [...this.#entries.values()];
    return entries.find(({ client }) => client.socket === socket && client.alive)?.client;
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) clearTimeout(entry.timer);
    await Promise.all(entries.map((entry) => entry.client.close()));
  }

  #expire(key: string, client: ControlClient): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      if (this.#entries.get(key)?.client === client) this.#entries.delete(key);
      void client.close();
    }, this.#idleMs);
  }
}
