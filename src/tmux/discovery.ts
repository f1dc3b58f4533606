/** Finds this user's tmux servers (docs/specification.md, tmux socket discovery) and lists their sessions. */
import { runtime } from "#runtime";
import { type Clock, systemClock } from "../async/clock.ts";
import { setNewest } from "../async/newest.ts";
import {
  folderTrust,
  REQUEST_LIMIT_MS,
  socketTrust,
  spawningServer,
  tmuxEnvironment,
  TmuxError,
  type TmuxServer,
  withEnvironment,
} from "./server.ts";
import { listSessions, type TmuxSession } from "./sessions.ts";
import type { Commands, Files } from "../runtime/types.ts";

/** `lsof` takes tens of milliseconds: it runs this often, and when a named session was not found. */
export const LSOF_INTERVAL_MS = 60_000;

/** Sockets whose time is remembered. */
const SOCKETS_MAX = 1_000;

/** How long a server that did not answer the last time may hold up the others, in milliseconds. */
export const HUNG_WAIT_MS = 1_500;

export interface DiscoveryOptions {
  now(): number;
  clock?: Pick<Clock, "after">;
  /** An open connection to the server, which is faster than a spawn. */
  openServer(socket: string): TmuxServer | undefined;
  /** Another file is in the socket's place: connections from before lead to a server that its path no longer reaches. */
  replaced?(socket: string): void;
}

interface Wanted {
  /** Only a session of this name. */
  name?: string;
  /** Waits as long for a server that did not answer the last time as for others. */
  isPatient?: boolean;
}

export class TmuxDiscovery {
  #host: DiscoveryEnvironment;
  #options: DiscoveryOptions;
  #searched: number | undefined;
  #extra: string[] = [];
  /** Every socket tried, and whether a server with sessions answered. */
  #tried = new Map<string, boolean>();
  /** When each socket was made, in epoch milliseconds. Kept while a socket is missing: the next one is another server's. */
  readonly #made = new Map<string, number>();
  /** Servers that did not answer the last time, and the read that is waiting for one now. */
  readonly #hung = new Map<string, Promise<TmuxSession[]> | undefined>();

  constructor(host: DiscoveryEnvironment, options: DiscoveryOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Every session of every live server. `deep` runs lsof again, and waits for a server that hangs, too. */
  async sessions({ deep = false } = {}): Promise<TmuxSession[]> {
    const now = this.#options.now();
    if (deep || this.#searched === undefined || Math.abs(now - this.#searched) >= LSOF_INTERVAL_MS) {
      this.#searched = now;
      this.#extra = await runningServerSockets(this.#host);
    }
    const sockets = [...new Set([...await socketFiles(this.#host), ...this.#extra])];
    // Until they answer, concurrent callers get what is known.
    this.#tried = new Map(sockets.map((socket) => [socket, this.#tried.get(socket) ?? false]));
    for (const socket of this.#hung.keys()) if (!this.#tried.has(socket)) this.#hung.delete(socket);
    return await this.#read(sockets, { isPatient: deep });
  }

  /** The sessions of this name on the servers that answered last time. A new socket file causes a full search. */
  async sessionsNamed(name: string): Promise<TmuxSession[]> {
    const known = [...this.#tried].flatMap(([socket, live]) => live ? [socket] : []);
    const [files, sessions] = await Promise.all([socketFiles(this.#host), this.#read(known, { name })]);
    return files.some((file) => !this.#tried.has(file)) ? await this.sessions() : sessions;
  }

  server(socket: string): TmuxServer {
    return spawningServer(this.#host.commands, socket);
  }

  async #read(sockets: readonly string[], wanted: Wanted): Promise<TmuxSession[]> {
    const lists = await Promise.all(sockets.map((socket) => this.#readOne(socket, wanted)));
    return lists.flat();
  }

  /** Lists the server's sessions. A message waits for this: the socket is checked meanwhile. */
  async #list(socket: string, name: string | undefined): Promise<TmuxSession[]> {
    const [isReplaced, sessions] = await Promise.all([
      this.#isReplaced(socket),
      this.#listByConnection(socket, name),
    ]);
    return isReplaced ? await listSessions(this.server(socket), name) : sessions;
  }

  /** The open connection may end with its session, without the others. */
  async #listByConnection(socket: string, name: string | undefined): Promise<TmuxSession[]> {
    const open = this.#options.openServer(socket);
    if (open === undefined) return await listSessions(this.server(socket), name);
    return await listSessions(open, name).catch((error) => {
      if (error instanceof TmuxError && error.lost) return listSessions(this.server(socket), name);
      throw error;
    });
  }

  /**
   * A server whose socket was removed, as by a cleared `/tmp`, lives on, and its clients stay connected. The next agent
   * starts a second server at the same path: that one is the user's. True if that has happened since the last read.
   */
  async #isReplaced(socket: string): Promise<boolean> {
    const made = (await this.#host.files.info(socket))?.mtimeMs;
    if (made === undefined) return false;
    const before = this.#made.get(socket) ?? made;
    setNewest(this.#made, [socket, made], { max: SOCKETS_MAX });
    if (made === before) return false;
    this.#options.replaced?.(socket);
    return true;
  }

  async #readOne(socket: string, { name, isPatient = false }: Wanted): Promise<TmuxSession[]> {
    if (!this.#hung.has(socket)) return await this.#ask(socket, name);
    const sessions = await (isPatient ? this.#readOnce(socket) : this.#readHung(socket));
    return name === undefined ? sessions : sessions.filter((one) => one.name === name);
  }

  async #readHung(socket: string): Promise<TmuxSession[]> {
    const { clock = systemClock } = this.#options;
    const pending = this.#readOnce(socket);
    const late = Promise.withResolvers<TmuxSession[]>();
    const cancel = clock.after(HUNG_WAIT_MS, () => late.resolve([]));
    return await Promise.race([pending, late.promise]).finally(cancel);
  }

  /**
   * At most one read at a time. It continues when no caller waits for it anymore, and its answer shows that the server
   * is back.
   */
  #readOnce(socket: string): Promise<TmuxSession[]> {
    const running = this.#hung.get(socket);
    if (running !== undefined) return running;
    const pending = this.#ask(socket, undefined).finally(() => {
      if (this.#hung.get(socket) === pending) this.#hung.set(socket, undefined);
    });
    this.#hung.set(socket, pending);
    return pending;
  }

  async #ask(socket: string, name: string | undefined): Promise<TmuxSession[]> {
    try {
      const found = await this.#list(socket, name);
      this.#hung.delete(socket);
      if (name === undefined) this.#tried.set(socket, found.length > 0);
      return found;
    } catch (error) {
      const isLate = error instanceof TmuxError && error.late;
      if (!isLate) this.#hung.delete(socket);
      else if (!this.#hung.has(socket)) this.#hung.set(socket, undefined);
      if (!(error instanceof TmuxError)) throw error;
      this.#tried.set(socket, false);
      return [];
    }
  }
}

/** Every session of this account. `distrusted` is called for each socket that is not used, with the reason. */
export async function tmuxSessions(
  distrusted: (path: string, why: string) => void = () => {},
): Promise<TmuxSession[]> {
  const host = { ...thisMachine(runtime.env.all()), distrusted };
  const discovery = new TmuxDiscovery(host, { now: Date.now, openServer: () => undefined });
  return await discovery.sessions({ deep: true });
}

interface Machine extends DiscoveryEnvironment {
  files: Files;
  commands: Pick<Commands, "run" | "pipe">;
}

/** This machine, with an environment that decides where tmux servers are searched and what their clients get. */
export function thisMachine(env: Readonly<Record<string, string>>): Machine {
  return {
    uid: runtime.uid,
    files: runtime.files,
    env: { get: (name: string): string | undefined => env[name] },
    commands: withEnvironment(runtime.commands, tmuxEnvironment(env)),
  };
}

export interface DiscoveryEnvironment {
  uid: number;
  env: { get(name: string): string | undefined };
  files: Pick<Files, "list" | "info" | "realPath">;
  commands: Pick<Commands, "run">;
  /** Called each time a socket is rejected because another account could be behind it. */
  distrusted?(path: string, why: string): void;
}

/**
 * Candidate socket paths, in the specified order: `SVC_TMUX_SOCKET` alone when set; the default location; `$TMPDIR`;
 * `/tmp/tmux-<uid>/`. Stale socket files may be among them.
 */
export async function socketFiles(host: DiscoveryEnvironment): Promise<string[]> {
  const explicit = host.env.get("SVC_TMUX_SOCKET");
  if (explicit) return await ownSocket(explicit, host);
  const folder = `tmux-${host.uid}`;
  const roots = [host.env.get("TMUX_TMPDIR") ?? "/tmp", host.env.get("TMPDIR"), "/tmp"];
  const folders = [
    ...new Set(roots.flatMap((root) => root ? [`${root.replace(/\/+$/, "")}/${folder}`] : [])),
  ];
  const found = await Promise.all(folders.map((path) => socketsIn(path, host)));
  return [...new Set(found.flat())];
}

async function socketsIn(folder: string, host: DiscoveryEnvironment): Promise<string[]> {
  const trust = await folderTrust(folder, host);
  if (trust.kind === "refused") host.distrusted?.(folder, trust.why);
  if (trust.kind !== "trusted") return [];
  const names = (await host.files.list(trust.path)).sort((a, b) =>
    Number(b === "default") - Number(a === "default")
  );
  return (await Promise.all(names.map((name) => ownSocket(`${trust.path}/${name}`, host)))).flat();
}

/** The resolved path of the socket if only this account can be behind it, else none. */
async function ownSocket(path: string, host: DiscoveryEnvironment): Promise<string[]> {
  const trust = await socketTrust(path, host);
  if (trust.kind === "refused") host.distrusted?.(path, trust.why);
  return trust.kind === "trusted" ? [trust.path] : [];
}

/** Sockets of running tmux servers, from `lsof`: the last resort, which finds any `-S` path. Empty without lsof, or if it hangs. */
export async function runningServerSockets(host: DiscoveryEnvironment): Promise<string[]> {
  if (host.env.get("SVC_TMUX_SOCKET")) return [];
  const list = ["lsof", "-a", "-w", "-u", String(host.uid), "-c", "tmux", "-U", "-Fn"];
  const { stdout } = await host.commands.run(list, { signal: AbortSignal.timeout(REQUEST_LIMIT_MS) });
  const paths = parseLsof(new TextDecoder().decode(stdout));
  const owned = await Promise.all(paths.map((path) => ownSocket(path, host)));
  return [...new Set(owned.flat())];
}

/** The absolute paths in `lsof -Fn` output: lines `n<path>`, on Linux followed by ` type=STREAM …`. */
export function parseLsof(output: string): string[] {
  const names = output.split("\n").filter((line) => line.startsWith("n/")).map((line) => line.slice(1));
  return [...new Set(names.map((name) => name.replace(/ type=\w+.*$/, "")))];
}
