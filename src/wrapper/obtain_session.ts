/**
 * Obtains the session of a wrapper run (docs/specification.md, "Wrapper"): attaches a detached one or creates the next,
 * even when other wrappers run at the same moment.
 */
import type { AgentProfile } from "../agents/profile.ts";
import { sessionName, sessionOrdinal } from "../protocol/names.ts";
import { type NewSession, type TmuxCommand, verbs } from "../tmux/argv.ts";
import { TmuxError } from "../tmux/server.ts";
import { SESSION_OPTIONS, type TmuxSession } from "../tmux/sessions.ts";
import {
  claimSession,
  createSession,
  isClaimed,
  isDuplicate,
  newClaim,
  saveLastWords,
  type ServerView,
  type TmuxAccess,
  viewServer,
} from "./tmux_server.ts";
import type { Project } from "./preflight.ts";

export interface ObtainedSession {
  name: string;
  /** The agent's process; undefined when its pane is gone. */
  pid: number | undefined;
  created: boolean;
}

interface SessionRequest {
  profile: AgentProfile;
  project: Project;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** The agent's argv with the user's arguments. */
  agent: readonly string[];
  /** Always creates a session instead of taking over an existing one. */
  isNew?: boolean;
  version: string;
  size: { columns: number; rows: number };
  /** For a wrapper that attaches: makes the file for the session's last words. */
  lastWords: ((name: string) => Promise<string | undefined>) | undefined;
  now: () => number;
  /** Announces that a session is about to begin, and resolves when it may. Call the result when it has begun. */
  announce: () => Promise<() => void>;
  /** Gets the version of the running server, empty while none runs; throws when that tmux cannot be used. */
  checkTmux: (version: string) => Promise<void>;
}

/** Each lost race means that another wrapper got its session, so this many wrappers may run at the same moment. */
const ATTEMPTS_MAX = 100;

/** Takes over or creates the session. Throws TmuxError when tmux refuses. */
export async function obtainSession(tmux: TmuxAccess, request: SessionRequest): Promise<ObtainedSession> {
  const lost = new Set<string>();
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const view = await viewServer(tmux);
    if (attempt === 0) await request.checkTmux(view.version);
    const decision = decideSession(
      { project: request.project.name, root: request.project.root, agent: request.profile.kind },
      view.sessions.map((session) => toKnown(session, request, lost)),
    );
    const session = await carryOutDecision(tmux, request, { view, decision });
    if (session !== undefined) return session;
    lost.add(decision.name);
  }
  throw new TmuxError(
    `other wrappers took ${ATTEMPTS_MAX} sessions of this project in the meantime. Try again.`,
  );
}

function toKnown(
  session: TmuxSession,
  { now, isNew, lastWords }: Pick<SessionRequest, "now" | "isNew" | "lastWords">,
  lost: ReadonlySet<string>,
): KnownSession {
  const { name, recorded: { agent, root, claim }, attached } = session;
  // A wrapper that attaches shows its user what is left of the session; one that only starts would start nothing.
  const isUseless = lastWords === undefined && isAgentGone(session);
  const isTaken = isNew || isUseless || lost.has(name) || isClaimed(claim, now());
  return { name, agent, root, attached: attached || isTaken };
}

/** Another window, or a pane that was kept or respawned, can keep a wrapper's session alive after its agent. */
function isAgentGone({ recorded, pane }: Pick<TmuxSession, "recorded" | "pane">): boolean {
  if (recorded.agent === "" || recorded.pane === "") return false;
  if (pane === undefined || pane.dead) return true;
  return recorded.pid !== "" && String(pane.pid) !== recorded.pid;
}

/** A session as tmux lists it; empty strings for what no wrapper recorded. */
export interface KnownSession {
  name: string;
  agent: string;
  /** Directory of the project. */
  root: string;
  /** A terminal is attached, or another wrapper is about to attach one. Control-mode clients do not count. */
  attached: boolean;
}

interface SessionWish {
  project: string;
  root: string;
  agent: string;
}

export type SessionDecision = { kind: "attach"; name: string } | { kind: "create"; name: string };

/**
 * The lowest detached session of the same agent and project, else the lowest free number. Another directory with the
 * same name is another project: its sessions use up names, but are not attached.
 */
export function decideSession(wish: SessionWish, sessions: readonly KnownSession[]): SessionDecision {
  const numbered = sessions.flatMap((session) => {
    const ordinal = sessionOrdinal(session.name, wish.project);
    return ordinal === undefined ? [] : [{ ordinal, session }];
  });
  const free = numbered
    .filter(({ session }) => !session.attached && matches(session, wish))
    .sort((one, other) => one.ordinal - other.ordinal)[0];
  if (free !== undefined) return { kind: "attach", name: free.session.name };
  const taken = new Set(numbered.map(({ ordinal }) => ordinal));
  return { kind: "create", name: sessionName(wish.project, lowestFree(taken)) };
}

/** A session that no wrapper recorded matches by its name alone. */
function matches(session: KnownSession, wish: SessionWish): boolean {
  const isSameAgent = session.agent === "" || session.agent === wish.agent;
  return isSameAgent && (session.root === "" || session.root === wish.root);
}

function lowestFree(taken: ReadonlySet<number>): number {
  let ordinal = 1;
  while (taken.has(ordinal)) ordinal++;
  return ordinal;
}

/** Undefined when another wrapper was faster. */
async function carryOutDecision(
  tmux: TmuxAccess,
  request: SessionRequest,
  { view, decision }: { view: ServerView; decision: SessionDecision },
): Promise<ObtainedSession | undefined> {
  switch (decision.kind) {
    case "attach":
      return await takeOver(tmux, request, view.sessions.find((one) => one.name === decision.name));
    case "create":
      return await create(tmux, request, { view, name: decision.name });
  }
}

async function takeOver(
  tmux: TmuxAccess,
  request: SessionRequest,
  session: TmuxSession | undefined,
): Promise<ObtainedSession | undefined> {
  if (session === undefined) return undefined;
  const { name, pane, recorded } = session;
  const obtained = { name, pid: pane?.pid, created: false };
  if (request.lastWords === undefined) return obtained;
  try {
    const claim = { seen: recorded.claim, claim: newClaim(request.now()) };
    return await claimSession(tmux, name, claim) ? obtained : undefined;
  } catch (error) {
    if (error instanceof TmuxError) return undefined;
    throw error;
  }
}

async function create(
  tmux: TmuxAccess,
  request: SessionRequest,
  { view, name }: { view: ServerView; name: string },
): Promise<ObtainedSession | undefined> {
  const { profile, project, cwd, version, agent, size, env } = request;
  const svc = { ...profile.env, SVC_SESSION: name };
  const environment = paneEnvironment({ own: env, server: view.environment, svc });
  const attaching = request.lastWords &&
    { claim: newClaim(request.now()), lastWords: await request.lastWords(name) };
  const plan = { name, kind: profile.kind, project, cwd, version, agent, environment, size, attaching };
  const begun = await request.announce();
  try {
    const session = await createSession(tmux, plannedSession(plan), (pane) => configuration(plan, pane));
    return { ...session, created: true };
  } catch (error) {
    if (isDuplicate(error)) return undefined;
    throw error;
  } finally {
    begun();
  }
}

export interface SessionPlan {
  name: string;
  kind: string;
  project: Project;
  cwd: string;
  version: string;
  /** The agent's argv. */
  agent: readonly string[];
  environment: PaneEnvironment;
  size: { columns: number; rows: number };
  /** Set by a wrapper that attaches; undefined for a session that stays detached. */
  attaching: { claim: string; lastWords: string | undefined } | undefined;
}

/** The user's global options must neither keep a session alive after its agent nor end it when no client is attached. */
const SESSION_RULES = { "destroy-unattached": "off", "detach-on-destroy": "on" };

/** The session with the agent as its pane's process. */
export function plannedSession(plan: SessionPlan): NewSession {
  return {
    name: plan.name,
    directory: plan.cwd,
    size: plan.size,
    env: plan.environment.session,
    argv: paneArgv(plan.environment, plan.agent),
  };
}

/** The commands that record what the listener needs to know about the agent in this pane, and set its rules. */
export function configuration(plan: SessionPlan, pane: string): TmuxCommand[] {
  const { attaching } = plan;
  const options = {
    ...SESSION_RULES,
    [SESSION_OPTIONS.agent]: plan.kind,
    [SESSION_OPTIONS.project]: plan.project.name,
    [SESSION_OPTIONS.directory]: markerDirectory(plan),
    [SESSION_OPTIONS.version]: plan.version,
    [SESSION_OPTIONS.root]: plan.project.root,
    ...(attaching && { [SESSION_OPTIONS.claim]: attaching.claim }),
  };
  return [
    verbs.setPaneOption(pane, "remain-on-exit", "off"),
    // It cannot be set for one session: every session would end with the last terminal, and at once without one.
    verbs.setServerOption("exit-unattached", "off"),
    ...(attaching?.lastWords ? [saveLastWords(pane, attaching.lastWords)] : []),
    ...Object.entries(options).map(([option, value]) => verbs.setSessionOption(pane, option, value)),
    verbs.setSessionOptionFrom(pane, SESSION_OPTIONS.pane, "#{pane_id}"),
    verbs.setSessionOptionFrom(pane, SESSION_OPTIONS.pid, "#{pane_pid}"),
  ];
}

/** The key of markers: the agent's hooks name the directory it runs in, or one below the project's. */
function markerDirectory({ project, cwd }: SessionPlan): string {
  return cwd === project.root || cwd.startsWith(`${project.root}/`) ? project.root : cwd;
}

/** Set by tmux, the wrapper or the new process itself for each pane. */
const PANE_OWN = new Set([
  "SVC_SESSION",
  "TERM",
  "TERM_PROGRAM",
  "TERM_PROGRAM_VERSION",
  "TMUX",
  "TMUX_PANE",
  "STY",
  "SHLVL",
  "PWD",
  "OLDPWD",
  "COLUMNS",
  "LINES",
  "_",
]);

interface PaneEnvironment {
  /** The session's environment, which its other windows get too. */
  session: Record<string, string>;
  /** Variables that the tmux server would pass on although the wrapper does not have them. */
  unset: string[];
  /** The agent's alone: the phone does not reach other programs in the session. */
  agent: Readonly<Record<string, string>>;
}

interface EnvironmentSources {
  /** The wrapper's environment. */
  own: Readonly<Record<string, string>>;
  /** Names in the tmux server's global environment. */
  server: readonly string[];
  /** What svc sets for the agent; takes precedence over the others. */
  svc: Readonly<Record<string, string>>;
}

/** The agent gets the wrapper's environment, however old the tmux server and its environment are. */
export function paneEnvironment({ own, server, svc }: EnvironmentSources): PaneEnvironment {
  const session = Object.fromEntries(Object.entries(own).filter(([name]) => !PANE_OWN.has(name)));
  const unset = server.filter((name) => !Object.hasOwn(session, name) && !PANE_OWN.has(name));
  return { session, unset, agent: svc };
}

/** `env` and the program that it replaces itself with: the agent becomes the pane's own process, without a shell. */
export function paneArgv({ unset, agent }: PaneEnvironment, argv: readonly string[]): string[] {
  const set = Object.entries(agent).map(([name, value]) => `${name}=${value}`);
  // `env` takes a program with `=` in its path for one more variable.
  const program = argv[0]?.includes("=") ? ["sh", "-c", 'exec "$0" "$@"'] : [];
  return ["env", ...unset.flatMap((name) => ["-u", name]), ...set, ...program, ...argv];
}
