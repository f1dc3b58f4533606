/** Resolves a session name to exactly one pane on one tmux server, and connects to that server. */
import type { AgentProfile } from "../agents/profile.ts";
import { delay, systemClock } from "../async/clock.ts";
import { SharedRun } from "../async/mutex.ts";
import { setNewest } from "../async/newest.ts";
import { agentKindOfProgram, agentProfile, unknownAgent } from "../agents/profiles.ts";
import type { Commands, Files } from "../runtime/types.ts";
import { areNews, controlArgv, type TmuxCommand } from "../tmux/argv.ts";
import { AttachGate } from "../tmux/attach_gate.ts";
import { ControlClient, type ControlEvents, ControlPool } from "../tmux/control_client.ts";
import { type DiscoveryEnvironment, thisMachine, TmuxDiscovery } from "../tmux/discovery.ts";
import { runtime } from "#runtime";
import { agentRun, type TmuxSession } from "../tmux/sessions.ts";
import { readProcessFacts } from "./process_facts.ts";
import { isAgentKind, isSessionName } from "../protocol/names.ts";
import type { Reason } from "../protocol/receipt.ts";
import { distrustLog, type TmuxServer } from "../tmux/server.ts";
import { isAlive, isReported } from "./inventory/session_entry.ts";

export interface TargetsHost extends DiscoveryEnvironment {
  commands: Pick<Commands, "run" | "pipe">;
  files: DiscoveryEnvironment["files"] & Pick<Files, "readText" | "readLink">;
  platform: string;
  now(): number;
}

/** Finds tmux servers behind trusted sockets only, and gives their clients a minimal environment. */
export function openTargets(
  { env, log }: { env: Readonly<Record<string, string>>; log(line: string): void },
): Targets {
  return new Targets({
    ...thisMachine(env),
    platform: runtime.platform,
    now: () => Date.now(),
    distrusted: distrustLog(log),
  });
}

/** Sessions whose last target is kept. */
const KNOWN_MAX = 500;
/** Minimum time between two searches of the whole machine, which every unknown session name causes. */
const SEARCH_GAP_MS = 1_000;

export class Targets {
  #host: TargetsHost;
  readonly #gate = new AttachGate();
  #pool: ControlPool;
  #discovery: TmuxDiscovery;
  /** By session name, the least recently used first. */
  readonly #known = new Map<string, Target>();
  /** The clients of mirrors; those that have ended are removed with the next one. */
  readonly #mirrors = new Set<ControlClient>();
  /** Concurrent callers share the next search. */
  readonly #search = new SharedRun(() => this.#searchAll());
  #searchedAt = -Infinity;
  /** The ids of the sessions of the last call of `holdClients`. */
  #lastIds: string | undefined;

  constructor(host: TargetsHost) {
    this.#host = host;
    this.#pool = new ControlPool(host.commands, { gate: this.#gate });
    this.#discovery = new TmuxDiscovery(host, {
      now: host.now,
      openServer: (socket) => this.#pool.open(socket),
      replaced: (socket) => this.#replaced(socket),
    });
  }

  /** What was mirrored ends, too: the phone must not see one server and type into another. */
  #replaced(socket: string): void {
    const reason = "another tmux server has this socket now";
    // Its sessions may have the same ids.
    this.#lastIds = "";
    this.#gate.changed();
    this.#pool.drop(socket, reason);
    for (const mirror of this.#mirrors) if (mirror.socket === socket) mirror.lose(reason);
  }

  sessions(): Promise<TmuxSession[]> {
    return this.#discovery.sessions();
  }

  /** The target that the name resolved to last time, if that server has a client attached. It may be outdated. */
  known(name: string): Target | undefined {
    const target = this.#known.get(name);
    return target !== undefined && this.#pool.open(target.socket) ? target : undefined;
  }

  async resolve(name: string): Promise<Resolved> {
    const resolved = await this.#resolve(name);
    if (resolved.kind === "found") setNewest(this.#known, [name, resolved.target], { max: KNOWN_MAX });
    else this.#known.delete(name);
    return resolved;
  }

  /** A name that no known server has causes one full search. */
  async #resolve(name: string): Promise<Resolved> {
    if (!isSessionName(name)) return { kind: "refused", reason: "invalid_session_name" };
    const quick = resolveTarget(name, await this.#discovery.sessionsNamed(name));
    if (quick.kind === "found") return { ...quick, target: await this.#recognize(quick.target) };
    if (quick.reason !== "no_such_session") return quick;
    const found = resolveTarget(name, await this.#search.get());
    return found.kind === "found" ? { ...found, target: await this.#recognize(found.target) } : found;
  }

  async #searchAll(): Promise<TmuxSession[]> {
    const waitMs = this.#searchedAt + SEARCH_GAP_MS - systemClock.elapsed();
    if (waitMs > 0) await delay(waitMs, { clock: systemClock });
    try {
      return await this.#discovery.sessions({ deep: true });
    } finally {
      this.#searchedAt = systemClock.elapsed();
    }
  }

  /** Applies the profile of a known agent in a session that the wrapper did not create. */
  async #recognize(target: Target): Promise<Target> {
    if (target.isProfiled) return target;
    const { foreground, argv } = await readProcessFacts(target.panePid, this.#host, { findAgent: false });
    const kind = agentKindOfProgram(foreground, argv);
    return kind === undefined ? target : { ...target, profile: agentProfile(kind), isProfiled: true };
  }

  /** Resolves the agent's pane at this place, even if its session was renamed, or another one has its name now. */
  async follow({ session, socket, pane }: Place): Promise<Resolved> {
    const named = await this.resolve(session);
    const isPane = (one: Pick<Target, "socket" | "pane">): boolean =>
      one.socket === socket && one.pane === pane;
    if (pane === undefined || (named.kind === "found" && isPane(named.target))) return named;
    const sessions = await this.#discovery.sessions();
    const now = sessions.find((one) => isPane({ socket: one.socket, pane: one.pane?.id ?? "" }));
    return now === undefined
      ? { kind: "refused", reason: "no_such_session" }
      : resolveTarget(now.name, [now]);
  }

  /**
   * Resolves the same pane again: in a session that the wrapper did not create, another program may have been started.
   */
  async current(target: Target): Promise<Target> {
    if (target.recordedPid !== 0) return target;
    const found = await this.resolve(target.session);
    const isSame = found.kind === "found" && found.target.socket === target.socket &&
      found.target.pane === target.pane;
    return isSame ? found.target : target;
  }

  /** The connection that types into the target. */
  server(target: Target): TmuxServer {
    if (target.spawnOnly) return this.anyServer(target.socket);
    return this.#gated(this.#pool.get(target.socket, target.session));
  }

  /**
   * Keeps a client attached to each server with sessions that the phone shows, so that a message after a pause need not
   * wait for one. It attaches in a calm moment, so not at the first call, and to the oldest session, because the client
   * ends with its session.
   */
  holdClients(sessions: readonly TmuxSession[]): void {
    const ids = sessions.map(({ socket, id }) => `${socket} ${id}`).sort().join("\n");
    const isFirst = this.#lastIds === undefined;
    if (!isFirst && ids !== this.#lastIds) this.#gate.changed();
    this.#lastIds = ids;
    const lasting = sessions.filter((one) => isReported(one) && isAlive(one) && !one.destroyedWhenUnattached);
    const servers = Map.groupBy(lasting, ({ socket }) => socket);
    const oldest = [...servers.values()].flatMap((group) =>
      group.sort((one, other) => one.created - other.created)[0] ?? []
    );
    this.#pool.hold(oldest.map(({ socket, name }) => ({ socket, session: name })), { attach: !isFirst });
  }

  /** A session is about to begin: it may do so once this resolves. `begun` is aborted when it has. */
  async sessionBegins(begun: AbortSignal): Promise<void> {
    await this.#gate.begins(begun);
  }

  /** Resolves when a client may attach. */
  async whenCalm(): Promise<void> {
    await this.#gate.whenCalm();
  }

  /** Opens a client that gets the output of the target's pane; await `whenCalm` first. The caller closes it. */
  openMirror({ socket, session, pane }: Target, events: ControlEvents): ControlClient {
    const child = this.#host.commands.pipe(controlArgv(socket, session, { output: true }));
    for (const mirror of this.#mirrors) if (!mirror.alive) this.#mirrors.delete(mirror);
    const mirror = new ControlClient(child, { socket, pane, events, gate: this.#gate });
    this.#mirrors.add(mirror);
    return mirror;
  }

  /** Any connection to the server, for reading many panes. */
  anyServer(socket: string): TmuxServer {
    return this.#gated(this.#pool.open(socket) ?? this.#discovery.server(socket));
  }

  /** Runs commands that notify control clients only while none is attaching. */
  #gated(server: TmuxServer): TmuxServer {
    const run = (...commands: TmuxCommand[]): Promise<string> => {
      const work = (): Promise<string> => server.run(...commands);
      return areNews(commands) ? this.#gate.news(work) : work();
    };
    return { socket: server.socket, run };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

export type TargetProfile =
  & Pick<
    AgentProfile,
    | "typing"
    | "dialog"
    | "menus"
    | "keys"
    | "commands"
    | "bareCommands"
    | "nestsCommands"
    | "foldedPaste"
    | "opensView"
    | "gate"
    | "readScreen"
    | "takesNoMarkers"
  >
  & { /** Undefined for an unknown agent. */ kind?: AgentProfile["kind"] };

/** A pane to type into. From here on it is addressed by its id, `pane`, alone. */
export interface Target {
  socket: string;
  session: string;
  sessionId: string;
  pane: string;
  /** The pane's own process when the target was resolved. */
  panePid: number;
  /** The recorded agent's process id; 0 in a session that the wrapper did not create. */
  recordedPid: number;
  /** The run of the recorded agent; "" in a session that the wrapper did not create. */
  run: string;
  /** Where the agent was started, and its project's directory; "" in a session that the wrapper did not create. */
  directory: string;
  root: string;
  profile: TargetProfile;
  /** The profile is a known agent's: nothing is typed unless its composer is recognized. */
  isProfiled: boolean;
  /** destroy-unattached is set, so a control client must not attach and detach. */
  spawnOnly: boolean;
}

/** A session, and once it was looked up, the pane of its agent, which identifies it even after a rename. */
export interface Place {
  session: string;
  socket?: string;
  pane?: string;
}

export type Resolved = { kind: "found"; target: Target } | { kind: "refused"; reason: Reason };

/**
 * Picks the session by its exact name (tmux's own `-t` would match by prefix). Only sessions
 * that the phone shows take messages.
 */
export function resolveTarget(name: string, sessions: readonly TmuxSession[]): Resolved {
  if (!isSessionName(name)) return { kind: "refused", reason: "invalid_session_name" };
  const [session, another] = sessions.filter((one) => one.name === name);
  if (session === undefined) return { kind: "refused", reason: "no_such_session" };
  if (another !== undefined) return { kind: "refused", reason: "ambiguous_session" };
  // The guard recognizes shells, but not every editor and interpreter in a user's own session.
  if (!isReported(session)) return { kind: "refused", reason: "no_such_session" };
  if (session.pane === undefined) return { kind: "refused", reason: "pane_dead" };
  const kind = session.recorded.agent;
  return {
    kind: "found",
    target: {
      socket: session.socket,
      session: session.name,
      sessionId: session.id,
      pane: session.pane.id,
      panePid: session.pane.pid,
      recordedPid: Number(session.recorded.pid) || 0,
      run: recordedRun(session),
      directory: session.recorded.directory,
      root: session.recorded.root,
      profile: isAgentKind(kind) ? agentProfile(kind) : unknownAgent,
      isProfiled: isAgentKind(kind),
      spawnOnly: session.destroyedWhenUnattached,
    },
  };
}

function recordedRun({ created, recorded: { pane, pid } }: TmuxSession): string {
  return pane === "" ? "" : agentRun({ created: String(created), pane, pid });
}
