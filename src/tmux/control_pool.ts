/** One control client per session in use, opened at the first use and closed a calm while after the last, so that nobody stays attached for nothing. */
import { type Clock, systemClock } from "../client/clock.ts";
import type { Commands } from "../runtime/types.ts";
import { controlArgv, type TmuxCommand } from "./argv.ts";
import { ControlClient } from "./control_client.ts";
import type { TmuxServer } from "./server.ts";

/** A client that nobody used for this long is detached. */
export const CONTROL_IDLE_MS = 60_000;

interface Entry {
  client: ControlClient;
  stopTimer(): void;
}

/** A client is attached to the session that it types into: it ends with that session and with no other. */
export class ControlPool {
  #entries = new Map<string, Entry>();
  #commands: Pick<Commands, "pipe">;
  #clock: Pick<Clock, "after">;

  constructor(commands: Pick<Commands, "pipe">, clock: Pick<Clock, "after"> = systemClock) {
    this.#commands = commands;
    this.#clock = clock;
  }

  /** The session's client, attached now if there is none. Each of its requests keeps it for another calm while. */
  get(socket: string, session: string): TmuxServer {
    const key = `${socket}\n${session}`;
    const entry = this.#entries.get(key);
    const alive = entry?.client.alive ? entry.client : undefined;
    const client = alive ?? new ControlClient(socket, this.#commands.pipe(controlArgv(socket, session)));
    this.#keep(key, client);
    return {
      socket,
      run: (...commands: TmuxCommand[]) => {
        if (this.#entries.get(key)?.client === client) this.#keep(key, client);
        return client.run(...commands);
      },
    };
  }

  /** Any client of the server that is open already. */
  open(socket: string): TmuxServer | undefined {
    const entries = [...this.#entries.values()];
    return entries.find(({ client }) => client.socket === socket && client.alive)?.client;
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) entry.stopTimer();
    await Promise.all(entries.map((entry) => entry.client.close()));
  }

  #keep(key: string, client: ControlClient): void {
    this.#entries.get(key)?.stopTimer();
    const stopTimer = this.#clock.after(CONTROL_IDLE_MS, () => {
      if (this.#entries.get(key)?.client === client) this.#entries.delete(key);
      void client.close();
    });
    this.#entries.set(key, { client, stopTimer });
  }
}
