/** Resolves session names against the tmux servers that live now, and connects to them. */
import { agentKindOfProgram } from "../agents/program.ts";
import { agentProfile } from "../agents/registry.ts";
import type { Commands, Files } from "../runtime/types.ts";
import { controlArgv } from "../tmux/argv.ts";
import { ControlClient, type ControlEvents, ControlPool } from "../tmux/control_client.ts";
import { type DiscoveryEnvironment, TmuxDiscovery } from "../tmux/discovery.ts";
import type { TmuxServer } from "../tmux/server.ts";
import type { TmuxSession } from "../tmux/sessions.ts";
import { readProcessFacts } from "./process_facts.ts";
import { type Resolved, resolveTarget, type Target } from "./target.ts";

export interface TargetsHost extends DiscoveryEnvironment {
  commands: Pick<Commands, "run" | "pipe">;
  files: DiscoveryEnvironment["files"] & Pick<Files, "readText" | "readLink">;
  platform: string;
  now(): number;
}

export class Targets {
  #host: TargetsHost;
  #pool: ControlPool;
  #discovery: TmuxDiscovery;

  constructor(host: TargetsHost) {
    this.#host = host;
    this.#pool = new ControlPool(host.commands);
    this.#discovery = new TmuxDiscovery(host, {
      now: host.now,
      openServer: (socket) => this.#pool.open(socket),
    });
  }

  sessions(): Promise<TmuxSession[]> {
    return this.#discovery.sessions();
  }

  /** A name that no known server has is looked for everywhere once more. */
  async resolve(name: string): Promise<Resolved> {
    const quick = resolveTarget(name, await this.#discovery.sessionsOfKnown());
    if ("target" in quick) return { target: await this.#recognise(quick.target) };
    if (quick.refused !== "no_such_session") return quick;
    const found = resolveTarget(name, await this.#discovery.sessions({ deep: true }));
    return "target" in found ? { target: await this.#recognise(found.target) } : found;
  }

  /** A known agent in a session that no wrapper made is typed into by its own profile. */
  async #recognise(target: Target): Promise<Target> {
    if (target.isProfiled) return target;
    const { foreground, argv } = await readProcessFacts(target.panePid, this.#host);
    const kind = agentKindOfProgram(foreground, argv);
    return kind === undefined ? target : { ...target, profile: agentProfile(kind), isProfiled: true };
  }

  /** The connection that types into the target. */
  server(target: Target): TmuxServer {
    if (target.spawnOnly) return this.#discovery.server(target.socket);
    return this.#pool.get(target.socket, target.session);
  }

  /** A client that gets the output of the target's pane; its owner closes it. */
  openMirror({ socket, session, pane }: Target, events: ControlEvents): ControlClient {
    const child = this.#host.commands.pipe(controlArgv(socket, session, { output: true }));
    return new ControlClient(child, { socket, pane, events });
  }

  /** A connection for a look at many panes. */
  anyServer(socket: string): TmuxServer {
    return this.#pool.open(socket) ?? this.#discovery.server(socket);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
