/** Finds the pane that a session name means: exactly, on exactly one server, by the recorded agent's pane id. */
import { agentProfile } from "../agents/registry.ts";
import type { AgentProfile } from "../agents/profile.ts";
import { unknownAgent } from "../agents/unknown.ts";
import { isAgentKind, isSessionName } from "../protocol/names.ts";
import type { Reason } from "../protocol/receipt.ts";
import type { TmuxSession } from "../tmux/sessions.ts";
import { isReported } from "./entry.ts";

export type TargetProfile = Pick<
  AgentProfile,
  | "typing"
  | "dialog"
  | "menus"
  | "keys"
  | "commands"
  | "foldedPaste"
  | "gate"
  | "readScreen"
  | "takesNoMarkers"
>;

/** A pane to type into; `pane` is its id, from here on the only name it has. */
export interface Target {
  socket: string;
  session: string;
  sessionId: string;
  pane: string;
  /** The pane's own process when it was found. */
  panePid: number;
  /** The recorded agent's process id, 0 for a pane that no wrapper made. */
  recordedPid: number;
  profile: TargetProfile;
  /** The profile is that of a known agent: its composer is recognised, or nothing is typed. */
  isProfiled: boolean;
  /** A control client must not come and go here: the user has set destroy-unattached. */
  spawnOnly: boolean;
}

export type Resolved = { target: Target } | { refused: Reason };

/**
 * Picks the session among all that are known now (spec, section 7; tmux's own `-t` would match by prefix). Only those
 * that the phone is shown take messages.
 */
export function resolveTarget(name: string, sessions: readonly TmuxSession[]): Resolved {
  if (!isSessionName(name)) return { refused: "invalid_session_name" };
  const [session, another] = sessions.filter((one) => one.name === name);
  if (session === undefined) return { refused: "no_such_session" };
  if (another !== undefined) return { refused: "ambiguous_session" };
  // The guard knows shells, not each editor and interpreter that a person keeps in a session of their own.
  if (!isReported(session)) return { refused: "no_such_session" };
  if (session.pane === undefined) return { refused: "pane_dead" };
  const kind = session.recorded.agent;
  return {
    target: {
      socket: session.socket,
      session: session.name,
      sessionId: session.id,
      pane: session.pane.id,
      panePid: session.pane.pid,
      recordedPid: Number(session.recorded.pid) || 0,
      profile: isAgentKind(kind) ? agentProfile(kind) : unknownAgent,
      isProfiled: isAgentKind(kind),
      spawnOnly: session.destroyedWhenUnattached,
    },
  };
}
