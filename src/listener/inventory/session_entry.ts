/** One tmux session as the inventory reports it. */
import { agentProfile } from "../../agents/profiles.ts";
import { agentKindOfBinary } from "../../agents/program.ts";
import { isNewerThanMeasured } from "../../agents/version.ts";
import {
  AGENT_LABELS,
  isAgentKind,
  isSessionName,
  sessionLabel,
  sessionOrdinal,
} from "../../protocol/names.ts";
import type { AgentState, SessionEntry } from "../../protocol/session.ts";
import type { TmuxSession } from "../../tmux/sessions.ts";
import { isGuardedProgram } from "../inject/guard.ts";

/** Titles and paths are cut to this length, because a full inventory must fit into one frame. */
const TEXT_MAX_CHARS = 200;

/** The phone shows agents, not all of the user's tmux sessions. */
export function isReported(session: TmuxSession): boolean {
  const agent = session.recorded.agent !== "" || agentKindOfBinary(session.pane?.command ?? "") !== undefined;
  return agent || session.name.startsWith("svc-");
}

/** The pane exists, is alive, and runs no shell. */
export function isAlive(session: TmuxSession): boolean {
  const { pane, recorded } = session;
  if (pane === undefined || pane.dead || isGuardedProgram(pane.command)) return false;
  return recorded.pid === "" || Number(recorded.pid) === pane.pid;
}

export interface EntryFacts {
  state: AgentState;
  /** Epoch milliseconds. */
  stateSince: number;
  muted: boolean;
  /** Version of the running agent. */
  version?: string | undefined;
  /** Configuration keys that widen what a phone may do. */
  widened?: readonly string[];
}

export function toEntry(session: TmuxSession, facts: EntryFacts): SessionEntry {
  const { recorded, pane } = session;
  const project = recorded.project || session.name.replace(/^svc-/, "");
  const agentLabel = isAgentKind(recorded.agent) ? AGENT_LABELS[recorded.agent] : "";
  const ordinal = sessionOrdinal(session.name, project) ?? 1;
  return {
    name: session.name,
    project,
    agent: recorded.agent,
    agentLabel,
    ordinal,
    label: agentLabel ? sessionLabel(project, agentLabel, ordinal) : session.name,
    state: facts.state,
    stateSince: facts.stateSince,
    attached: session.attached,
    lastActivity: session.activity * 1_000,
    cwd: (pane?.path ?? recorded.directory).slice(0, TEXT_MAX_CHARS),
    title: (pane?.title ?? "").slice(0, TEXT_MAX_CHARS),
    cols: pane?.cols ?? 0,
    rows: pane?.rows ?? 0,
    muted: facts.muted,
    addressable: isSessionName(session.name) && isAlive(session),
    ...versionsOf(recorded.agent, facts.version),
    ...(facts.widened === undefined || facts.widened.length === 0 ? {} : { widened: [...facts.widened] }),
  };
}

function versionsOf(kind: string, agentVersion: string | undefined): Partial<SessionEntry> {
  if (agentVersion === undefined || !isAgentKind(kind)) return {};
  const { measuredVersion } = agentProfile(kind);
  return isNewerThanMeasured(agentVersion, measuredVersion)
    ? { agentVersion, measuredVersion }
    : { agentVersion };
}
