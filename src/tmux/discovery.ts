/** The live tmux servers of this user with their sessions. */
import { spawningServer, TmuxError, type TmuxServer } from "./server.ts";
import { listSessions, type TmuxSession } from "./sessions.ts";
import { type DiscoveryEnvironment, runningServerSockets, socketFiles } from "./sockets.ts";

/** `lsof` costs tens of milliseconds: it runs this often, and when a named session was not found. */
export const LSOF_INTERVAL_MS = 60_000;

export interface DiscoveryOptions {
  now(): number;
  /** A connection to the server that is open already, quicker than a spawn. */
  openServer(socket: string): TmuxServer | undefined;
}

export class TmuxDiscovery {
  #host: DiscoveryEnvironment;
  #options: DiscoveryOptions;
  #searched: number | undefined;
  #extra: string[] = [];
  /** Every socket that was tried, and whether a server with sessions answered. */
  #tried = new Map<string, boolean>();

  constructor(host: DiscoveryEnvironment, options: DiscoveryOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Every session of every live server. `deep` asks lsof again. */
  async sessions(options: { deep?: boolean } = {}): Promise<TmuxSession[]> {
    const now = this.#options.now();
    if (options.deep || this.#searched === undefined || now - this.#searched >= LSOF_INTERVAL_MS) {
      this.#searched = now;
      this.#extra = await runningServerSockets(this.#host);
    }
    const sockets = [...new Set([...await socketFiles(this.#host), ...this.#extra])];
    this.#tried = new Map(sockets.map((socket) => [socket, false]));
    return await this.#read(sockets);
  }

  /** The sessions of the servers that lived at the last look; everything anew when a socket file is new. */
  async sessionsOfKnown(): Promise<TmuxSession[]> {
    const files = await socketFiles(this.#host);
    if (files.some((file) => !this.#tried.has(file))) return await this.sessions();
    return await this.#read([...this.#tried].flatMap(([socket, live]) => live ? [socket] : []));
  }

  server(socket: string): TmuxServer {
    return spawningServer(this.#host.commands, socket);
  }

  async #read(sockets: readonly string[]): Promise<TmuxSession[]> {
    const lists = await Promise.all(sockets.map((socket) => this.#readOne(socket)));
    return lists.flat();
  }

  async #readOne(socket: string): Promise<TmuxSession[]> {
    try {
      const found = await listSessions(this.#options.openServer(socket) ?? this.server(socket));
      this.#tried.set(socket, found.length > 0);
      return found;
    } catch (error) {
      if (!(error instanceof TmuxError)) throw error;
      this.#tried.set(socket, false);
      return [];
    }
  }
}
