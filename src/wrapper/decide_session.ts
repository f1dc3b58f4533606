/** Decides which tmux session a wrapper run gets (spec, section 1, rules 3 and 4). */
import { sessionName, sessionOrdinal } from "../protocol/names.ts";

/** A session as tmux lists it; empty strings for what no wrapper recorded. */
export interface KnownSession {
  name: string;
  agent: string;
  /** Directory of the project. */
  root: string;
  /** Someone is attached (control-mode clients do not count), or another wrapper is about to be. */
  attached: boolean;
}

export interface SessionWish {
  project: string;
  root: string;
  agent: string;
}

export type SessionDecision = { action: "attach"; name: string } | { action: "create"; name: string };

/**
 * The lowest detached session of the same agent and project, else the lowest free number. Another directory of the same
 * name is another project: its sessions take names, but are not attached.
 */
export function decideSession(wish: SessionWish, sessions: readonly KnownSession[]): SessionDecision {
  const numbered = sessions.flatMap((session) => {
    const ordinal = sessionOrdinal(session.name, wish.project);
    return ordinal === undefined ? [] : [{ ordinal, session }];
  });
  const free = numbered
    .filter(({ session }) => !session.attached && isOfWish(session, wish))
    .sort((one, other) => one.ordinal - other.ordinal)[0];
  if (free !== undefined) return { action: "attach", name: free.session.name };
  const taken = new Set(numbered.map(({ ordinal }) => ordinal));
  return { action: "create", name: sessionName(wish.project, lowestFree(taken)) };
}

/** A session that no wrapper recorded matches by its name alone. */
function isOfWish(session: KnownSession, wish: SessionWish): boolean {
  const isSameAgent = session.agent === "" || session.agent === wish.agent;
  return isSameAgent && (session.root === "" || session.root === wish.root);
}

function lowestFree(taken: ReadonlySet<number>): number {
  let ordinal = 1;
  while (taken.has(ordinal)) ordinal++;
  return ordinal;
}
