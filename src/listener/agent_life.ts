/**
 * What a phone can do to an agent other than typing: start one in a project that this host knows, reject its dialog or
 * interrupt it, and end one that svc started. Also ends agents that outlive their terminal.
 */
import { runtime } from "#runtime";
import { agentProfile } from "../agents/profiles.ts";
import { daemonEnvironment } from "../home/daemon.ts";
import { isMuted, loadMuted } from "../home/muted.ts";
import type { HomePaths } from "../home/paths.ts";
import type { StartChoices } from "../protocol/session.ts";
import { AGENT_LABELS, type AgentKind, isAgentKind, isSessionName } from "../protocol/names.ts";
import { type Push, type StartData, startDataOf } from "../protocol/push.ts";
import type { Reason } from "../protocol/receipt.ts";
import type { Commands } from "../runtime/types.ts";
import { directoriesOf, type TmuxSession } from "../tmux/sessions.ts";
import { type Outcome, paneContext, refused, type TypingContext } from "./inject/context.ts";
import { systemClock, waitFor } from "../async/clock.ts";
import { verbs } from "../tmux/argv.ts";
import { endLeftovers, hasLostTerminal, processIdentity, type TerminalHost } from "../tmux/leftovers.ts";
import { TmuxError } from "../tmux/server.ts";
import { resolveTarget, type Target, type Targets } from "./targets.ts";
import type { KnownProject, KnownProjects } from "./projects.ts";
import { dialogText } from "../agents/screen_texts.ts";
import { compiledMarks } from "../agents/read_screen.ts";
import { checkPane, failureOutcome, pressKey } from "./inject/pane_check.ts";
import { dialogActions, type Policy } from "./inject/policy.ts";
import { isSameDialog } from "./inventory/pane_records.ts";
import type { OpenDialog } from "./inventory/session_entry.ts";

export interface StartOptions extends StartEffects {
  /** The host's `allowAgentStart`. */
  allowed: boolean;
  projects(): Promise<readonly KnownProject[]>;
  /** Records the step in the journal, before the agent can run. */
  record(id: string, step: "typing"): Promise<void>;
  log(line: string): void;
}

export interface StartEffects {
  isDirectory(path: string): Promise<boolean>;
  isMuted(directory: string): Promise<boolean>;
  /** Runs `svc --detach <agent>` in `directory`. Resolves to undefined if it does not end in time. */
  run(agent: AgentKind, directory: string): Promise<Ran | undefined>;
}

/** How `svc --detach` ended; `stdout` is the session's name. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Starts an agent. A `submitted` outcome has the session's name. Throws what `record` throws. */
export async function startAgent(push: Push, options: StartOptions): Promise<Outcome> {
  const place = await placeOf(startDataOf(push), options);
  if (typeof place === "string") return refused(place);
  await options.record(push.id, "typing");
  const ran = await options.run(place.agent, place.directory);
  if (ran === undefined) return { state: "unknown" };
  const name = ran.stdout.trim();
  if (ran.code === 0 && isSessionName(name)) return { state: "submitted", agentSessionName: name };
  options.log(`start ${push.id}: svc --detach ${place.agent} ended with ${ran.code}: ${ran.stderr.trim()}`);
  return refused("start_failed");
}

const BUILT_IN: AgentKind = "echo";

type Place = { agent: AgentKind; directory: string };

async function placeOf(asked: StartData | undefined, options: StartOptions): Promise<Place | Reason> {
  if (!options.allowed) return "start_not_allowed";
  if (asked === undefined) return "invalid_body";
  const { agent, project, directory } = asked;
  if (!isAgentKind(agent)) return "unknown_agent";
  const found = (await options.projects()).filter((known) =>
    known.project === project && (directory === undefined || known.directory === directory)
  );
  const [one, other] = await existing(found, options);
  if (one === undefined) return "unknown_project";
  if (other !== undefined) return "ambiguous_project";
  return await options.isMuted(one) ? "muted" : { agent, directory: one };
}

async function existing(found: readonly KnownProject[], options: StartOptions): Promise<string[]> {
  const there = await Promise.all(found.map(({ directory }) => options.isDirectory(directory)));
  return found.filter((_, index) => there[index]).map(({ directory }) => directory);
}

/** Limit for a start, in milliseconds. One that takes longer may still succeed. */
const START_LIMIT_MS = 60_000;

interface StartEnvironment {
  paths: HomePaths;
  env: Readonly<Record<string, string>>;
}

/** The wrapper runs as a separate process, as a script would run it. */
export function startEffects({ paths, env }: StartEnvironment): StartEffects {
  const { files } = runtime;
  return {
    isDirectory: async (path) => (await files.info(path))?.isDirectory === true,
    isMuted: async (directory) => isMuted(await loadMuted(files, paths), directory),
    run: (agent, directory) => startDetached({ paths, env }, { agent, directory, args: [] }),
  };
}

/** How long the list of installed agents is cached: every folder of PATH is searched for it. */
export const AGENTS_KEPT_MS = 60_000;

interface ChoicesOptions {
  commands: Pick<Commands, "which">;
  projects: Pick<KnownProjects, "list">;
  /** Epoch milliseconds. */
  now(): number;
}

/**
 * Returns a function that lists the installed agents, or the built-in one if there are none, and the known projects,
 * the last one learned first.
 */
export function startChoices({ commands, projects, now }: ChoicesOptions): () => Promise<StartChoices> {
  let found: { agents: AgentKind[]; at: number } | undefined;
  return async () => {
    const at = now();
    if (found === undefined || Math.abs(at - found.at) >= AGENTS_KEPT_MS) {
      found = { agents: await installedAgents(commands), at };
    }
    return { agents: found.agents, projects: [...await projects.list()].reverse() };
  };
}

async function installedAgents(commands: Pick<Commands, "which">): Promise<AgentKind[]> {
  const kinds = Object.keys(AGENT_LABELS).filter(isAgentKind).filter((kind) => kind !== BUILT_IN);
  const paths = await Promise.all(kinds.map((kind) => commands.which(agentProfile(kind).binary)));
  const installed = kinds.filter((_, index) => paths[index] !== undefined);
  return installed.length > 0 ? installed : [BUILT_IN];
}

/** Runs `svc --detach <agent> <args>` in `directory`. Resolves to undefined if it does not end in time. */
export async function startDetached(
  { env, paths }: StartEnvironment,
  { agent, directory, args, isNew = false }: {
    agent: AgentKind;
    directory: string;
    args: readonly string[];
    /** Always creates a session instead of taking over an existing one. */
    isNew?: boolean;
  },
): Promise<Ran | undefined> {
  const signal = AbortSignal.timeout(START_LIMIT_MS);
  const options = ["--detach", "--by-listener", ...(isNew ? ["--new-session"] : [])];
  const argv = [...runtime.selfCommand(), ...options, agent, ...args];
  const place = { cwd: directory, env: daemonEnvironment(env, paths), signal };
  const { code, stdout, stderr } = await runtime.commands.run(argv, place);
  return signal.aborted ? undefined : { code, stdout: new TextDecoder().decode(stdout), stderr };
}

/** Neither key approves anything, whatever is on the screen. */
const DIALOG_KEYS = { reject: "Escape", interrupt: "C-c" } as const;

const DIALOG_ANSWER = /^(reject|interrupt) ([0-9a-f-]{36})$/;

/** The body of a `dialog.answer`: what to do, and the id of the dialog. */
function parseAnswer(
  body: string | undefined,
): { action: keyof typeof DIALOG_KEYS; dialog: string } | undefined {
  const [, action, dialog = ""] = DIALOG_ANSWER.exec(body ?? "") ?? [];
  return action === "reject" || action === "interrupt" ? { action, dialog } : undefined;
}

interface DialogContext {
  typing: TypingContext;
  /** The dialog that this session showed last. */
  dialogOf(session: string): OpenDialog | undefined;
}

/**
 * Rejects or interrupts the dialog, if the screen still shows the one that the phone saw. `submitted`: the key was
 * pressed.
 */
export async function answerDialog(push: Push, { typing, dialogOf }: DialogContext): Promise<Outcome> {
  const answer = parseAnswer(push.body);
  if (answer === undefined) return refused("invalid_body");
  if (!dialogActions(typing.policy).includes(answer.action)) return refused("dialog_not_allowed");
  const session = push.agentSessionName ?? "";
  const resolved = await typing.targets.resolve(session);
  if (resolved.kind === "refused") return refused(resolved.reason);
  const { target } = resolved;
  const context = paneContext(typing, target);
  const outcome = await context.input.alone(async (): Promise<Outcome> => {
    const check = await checkPane(context);
    if (check.kind === "refused") return check.outcome;
    const { pane } = check;
    if (await context.effects.isMuted(pane.directory)) return refused("muted");
    const known = dialogOf(session);
    const shown = dialogText(pane.screen.lines, compiledMarks(target.profile.dialog));
    const isOpen = pane.reading.focus === "dialog" && known?.id === answer.dialog &&
      isSameDialog(known.text, shown);
    if (!isOpen) return refused("dialog_gone");
    try {
      const policy = { ...typing.policy, approval: "once" } satisfies Policy;
      const isPressed = await pressKey({ ...context, policy }, pane, DIALOG_KEYS[answer.action]);
      return isPressed ? { state: "submitted" } : refused("dialog_gone");
    } catch (error) {
      if (error instanceof TmuxError) return error.lost ? { state: "unknown" } : failureOutcome(error);
      throw error;
    }
  });
  typing.typed();
  return { ...outcome, pane: target.pane };
}

/** The body: the session's `createdAt` distinguishes it from a later one of the same name. */
const END = /^end (\d{1,16})$/;
/** How long an agent may take to exit: it saves its conversation when its terminal hangs up. */
const EXIT_LIMIT_MS = 5_000;
const PROBE_MS = 100;

export interface EndOptions extends EndEffects {
  /** The host's `allowAgentEnd`. */
  allowed: boolean;
  targets: Pick<Targets, "sessions" | "anyServer">;
  isMuted(...directories: string[]): Promise<boolean>;
  /** Records the step in the journal, before the agent can end. */
  record(id: string, step: "typing"): Promise<void>;
  /** Called when the agent may have ended. */
  ended(): void;
}

/** Replaced by tests. */
export interface EndEffects {
  identity(pid: number): Promise<string>;
  /** Resolves to true once the process has ended, or to false if that takes too long. */
  exits(pid: number): Promise<boolean>;
  /** Ends processes that ignored the closing of their terminal. */
  endLeftovers(pane: { pid: number; identity: string }): Promise<void>;
}

export function endEffects(): EndEffects {
  const host = { commands: runtime.commands, clock: systemClock };
  const limits = { clock: systemClock, limitMs: EXIT_LIMIT_MS, everyMs: PROBE_MS };
  return {
    identity: (pid) => processIdentity(host, pid),
    exits: async (pid) =>
      await waitFor(() => Promise.resolve(host.commands.kill(pid, 0) ? undefined : true), limits) === true,
    endLeftovers: (pane) => endLeftovers(host, pane),
  };
}

/** Ends an agent that svc started. `submitted`: its process is gone. Throws what `record` throws. */
export async function endAgent(push: Push, options: EndOptions): Promise<Outcome> {
  const { allowed, targets, exits } = options;
  const [, createdAt] = END.exec(push.body ?? "") ?? [];
  if (createdAt === undefined) return refused("invalid_body");
  if (!allowed) return refused("end_not_allowed");
  const found = await findAgent(push.agentSessionName ?? "", { createdAt: Number(createdAt), options });
  if (typeof found === "string") return refused(found);
  const { socket, pane, panePid: pid } = found;
  const identity = await options.identity(pid);
  await options.record(push.id, "typing");
  // Only if the agent is still the pane's process. Other panes of the session stay open.
  const close = verbs.ifFormat(pane, `#{==:#{pane_pid},${pid}}`, { then: [verbs.killPane(pane)] });
  await targets.anyServer(socket).run(close).catch(ignoreTmux);
  if (!await exits(pid)) await options.endLeftovers({ pid, identity });
  const outcome: Outcome = await exits(pid) ? { state: "submitted" } : refused("end_failed");
  options.ended();
  return { ...outcome, pane };
}

async function findAgent(
  name: string,
  { createdAt, options: { targets, isMuted } }: { createdAt: number; options: EndOptions },
): Promise<Target | Reason> {
  const sessions = await targets.sessions();
  const resolved = resolveTarget(name, sessions);
  if (resolved.kind === "refused") return resolved.reason;
  const { target } = resolved;
  const session = sessions.find(({ socket, id }) => socket === target.socket && id === target.sessionId);
  if (session === undefined || session.recorded.agent === "") return "not_started_by_svc";
  if (session.created * 1_000 !== createdAt) return "session_changed";
  if (target.recordedPid !== target.panePid) return "shell_in_pane";
  return await isMuted(...directoriesOf(session)) ? "muted" : target;
}

/** The connection may have ended with this session. Whether the process has ended is checked next. */
function ignoreTmux(error: unknown): void {
  if (!(error instanceof TmuxError)) throw error;
}

/** How often the terminals of agents that ignore SIGHUP are checked, in milliseconds. */
export const TERMINAL_CHECK_MS = 1_000;

export interface EndedAgentsOptions extends TerminalHost {
  log(line: string): void;
}

/** Ends agents that ignore SIGHUP once their terminal is gone, no matter who killed the session. */
export class EndedAgents {
  readonly #options: EndedAgentsOptions;
  /** By process id: the identity that distinguishes the process from a later one. */
  readonly #watched = new Map<number, string>();
  readonly #ending = new Set<Promise<void>>();
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(options: EndedAgentsOptions) {
    this.#options = options;
  }

  /**
   * Updates the watched agents. A missing session proves nothing: its window may have moved, or its server may not have
   * answered.
   */
  async take(sessions: readonly TmuxSession[]): Promise<void> {
    const live = new Set<number>();
    for (const { recorded, pane } of sessions) {
      if (pane === undefined || !isAgentKind(recorded.agent) || !agentProfile(recorded.agent).ignoresHangup) {
        continue;
      }
      live.add(pane.pid);
      if (!this.#watched.has(pane.pid)) {
        this.#watched.set(pane.pid, await processIdentity(this.#options, pane.pid));
      }
    }
    for (const [pid, identity] of this.#watched) {
      if (live.has(pid)) continue;
      const now = await processIdentity(this.#options, pid);
      if (now === "" || now !== identity) this.#watched.delete(pid);
      else if (await hasLostTerminal(this.#options, pid)) this.#end(pid);
    }
    this.#checkLater();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#cancel?.();
    await Promise.all(this.#ending);
  }

  #checkLater(): void {
    if (this.#isOver || this.#cancel !== undefined || this.#watched.size === 0) return;
    this.#cancel = this.#options.clock.after(TERMINAL_CHECK_MS, () => {
      this.#cancel = undefined;
      void this.#check().finally(() => this.#checkLater());
    });
  }

  async #check(): Promise<void> {
    for (const pid of [...this.#watched.keys()]) {
      if (await hasLostTerminal(this.#options, pid, { withPs: false })) this.#end(pid);
    }
  }

  #end(pid: number): void {
    const identity = this.#watched.get(pid) ?? "";
    this.#watched.delete(pid);
    if (identity === "") return;
    const ending = endLeftovers(this.#options, { pid, identity }).catch((error) =>
      this.#options.log(`agent ${pid}: not ended: ${error}`)
    );
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
  }
}
