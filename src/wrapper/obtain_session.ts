/** Gets a wrapper run its session, also when others ask at the same instant. */
import type { AgentProfile } from "../agents/profile.ts";
import { TmuxError } from "../tmux/server.ts";
import { isClaimed, newClaim } from "./claim.ts";
import { decideSession, type KnownSession, type SessionDecision } from "./decide_session.ts";
import { paneEnvironment } from "./pane_environment.ts";
import type { Project } from "./project.ts";
import { sessionCommands } from "./session_commands.ts";
import {
  claimSession,
  createSession,
  isDuplicate,
  type ListedSession,
  type ServerView,
  type TmuxAccess,
  viewServer,
} from "./tmux_calls.ts";

export interface ObtainedSession {
  name: string;
  /** Of the agent. */
  pid: number;
  created: boolean;
}

export interface SessionRequest {
  profile: AgentProfile;
  project: Project;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** The agent's argv with the user's words. */
  agent: readonly string[];
  version: string;
  size: { columns: number; rows: number };
  /** For a wrapper that attaches: where the last words of this session go. */
  lastWords: ((name: string) => Promise<string>) | undefined;
  now: () => number;
  /** Told the version of the running server, empty while none runs; throws when tmux will not do. */
  checkTmux: (version: string) => Promise<void>;
}

/** Each lost race means that another wrapper got its session, so this many wrappers may ask at one instant. */
const ATTEMPTS_MAX = 100;

/** Throws TmuxError when tmux refuses. */
export async function obtainSession(tmux: TmuxAccess, request: SessionRequest): Promise<ObtainedSession> {
  const lost = new Set<string>();
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const view = await viewServer(tmux);
    if (attempt === 0) await request.checkTmux(view.version);
    const decision = decideSession(
      { project: request.project.name, root: request.project.root, agent: request.profile.kind },
      view.sessions.map((session) => toKnown(session, request.now(), lost)),
    );
    const session = await carryOutDecision(tmux, request, { view, decision });
    if (session !== undefined) return session;
    lost.add(decision.name);
  }
  throw new TmuxError(
    `Other wrappers took ${ATTEMPTS_MAX} sessions of this project meanwhile. Run it again.`,
  );
}

function toKnown(session: ListedSession, now: number, lost: ReadonlySet<string>): KnownSession {
  const { name, agent, root, claim } = session;
  return { name, agent, root, attached: session.attached || lost.has(name) || isClaimed(claim, now) };
}

/** Undefined when another wrapper was faster. */
async function carryOutDecision(
  tmux: TmuxAccess,
  request: SessionRequest,
  { view, decision }: { view: ServerView; decision: SessionDecision },
): Promise<ObtainedSession | undefined> {
  switch (decision.action) {
    case "attach":
      return await takeOver(tmux, request, view.sessions.find((one) => one.name === decision.name));
    case "create":
      return await create(tmux, request, { view, name: decision.name });
  }
}

async function takeOver(
  tmux: TmuxAccess,
  request: SessionRequest,
  session: ListedSession | undefined,
): Promise<ObtainedSession | undefined> {
  if (session === undefined) return undefined;
  const { name, pid } = session;
  const obtained = { name, pid, created: false };
  if (request.lastWords === undefined) return obtained;
  try {
    const claim = { seen: session.claim, claim: newClaim(request.now()) };
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
  try {
    return { ...await createSession(tmux, name, sessionCommands(plan)), created: true };
  } catch (error) {
    if (isDuplicate(error)) return undefined;
    throw error;
  }
}
