/** The live tmux servers with their sessions, kept fresh by polling. */
import { spawningServer, TmuxError, type TmuxServer } from "./server.ts";
import { listSessions, type TmuxSession } from "./sessions.ts";
import { type DiscoveryEnvironment, runningServerSockets, socketFiles } from "./sockets.ts";

/** `lsof` costs tens of milliseconds: it runs this often, and when a named session was not found. */
export const LSOF_INTERVAL_MS = 60_000;

export class TmuxDiscovery {
  #host: DiscoveryEnvironment;
  #now: () => number;
  #searched = 0;
  #extra: string[] = [];

  constructor(host: DiscoveryEnvironment, now: () => number) {
    this.#host = host;
    this.#now = now;
  }

  /** Every session of every live server. `deep` asks lsof again. */
  async sessions(options: { deep?: boolean } = {}): Promise<TmuxSession[]> {
    const found = await this.#read(await socketFiles(this.#host));
    const due = this.#now() - this.#searched >= LSOF_INTERVAL_MS;
    if (options.deep || due) await this.#search();
    const known = new Set(found.map((session) => session.socket));
    return [...found, ...await this.#read(this.#extra.filter((path) => !known.has(path)))];
  }

  server(socket: string): TmuxServer {
    return spawningServer(this.#host.commands, socket);
  }

  async #search(): Promise<void> {
    this.#searched = this.#now();
    this.#extra = await runningServerSockets(this.#host);
  }

  async #read(sockets: readonly string[]): Promise<TmuxSession[]> {
    const lists = await Promise.all(sockets.map((socket) => this.#readOne(socket)));
    return lists.flat();
  }

  async #readOne(socket: string): Promise<TmuxSession[]> {
    try {
      return await listSessions(this.server(socket));
    } catch (error) {
      if (error instanceof TmuxError) return [];
      throw error;
    }
  }
}
