/** What the daemon leaves for others to find while it lives: its pid, its version, its socket. */
import { type ControlHandlers, serveControl } from "../home/control_server.ts";
import type { HomePaths } from "../home/paths.ts";
import type { Files, LocalSockets } from "../runtime/types.ts";

export interface PresenceHost {
  files: Files;
  sockets: Pick<LocalSockets, "listen">;
  pid: number;
}

export interface PresenceOptions {
  paths: HomePaths;
  version: string;
  handlers: ControlHandlers;
}

/** The caller holds the daemon's lock, so a socket or a pid file that lies there is a dead daemon's. */
export class Presence {
  readonly #host: PresenceHost;
  readonly #options: PresenceOptions;
  #control: { close(): void } | undefined;
  #isOver = false;

  constructor(host: PresenceHost, options: PresenceOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** The socket comes last: once it answers, the files are there. */
  async show(): Promise<void> {
    await this.#writeFiles();
    await this.#listen();
  }

  /** Puts back what was deleted meanwhile, a socket at the second look; false when the whole home is gone. */
  async repair(): Promise<boolean> {
    const { files } = this.#host;
    const { paths } = this.#options;
    if ((await files.info(paths.root)) === undefined) return false;
    if (!this.#isOver && (await files.info(paths.pid)) === undefined) await this.#writeFiles();
    if (!this.#isOver && (await files.info(paths.socket)) === undefined) await this.#replaceSocket();
    if (this.#isOver) await this.end();
    return true;
  }

  /** Deno unlinks a closed socket's path some time after the close, and would take the new socket with it. */
  async #replaceSocket(): Promise<void> {
    if (this.#control === undefined) return await this.#listen();
    this.#control.close();
    this.#control = undefined;
  }

  /** Turns clients away and removes what is this daemon's own. */
  async end(): Promise<void> {
    const { files, pid } = this.#host;
    const { paths } = this.#options;
    this.#isOver = true;
    this.#control?.close();
    this.#control = undefined;
    await files.remove(paths.socket);
    if ((await files.readText(paths.pid))?.trim() !== String(pid)) return;
    await files.remove(paths.pid);
    await files.remove(paths.version);
  }

  async #writeFiles(): Promise<void> {
    const { files, pid } = this.#host;
    const { paths, version } = this.#options;
    await files.replaceText(paths.version, `${version}\n`, { mode: 0o600 });
    await files.replaceText(paths.pid, `${pid}\n`, { mode: 0o600 });
  }

  async #listen(): Promise<void> {
    const { paths, handlers } = this.#options;
    await this.#host.files.remove(paths.socket);
    this.#control = await serveControl(this.#host.sockets, paths.socket, handlers);
  }
}
