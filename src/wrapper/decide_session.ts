/** Decides which tmux session a wrapper run gets (docs/specification.md, "Wrapper"), and the claims that settle races between wrappers. */
import { sessionName, sessionOrdinal } from "../protocol/names.ts";

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

/** A claim is void after this time, because its wrapper may have died, in milliseconds. */
export const CLAIM_LIFE_MS = 10_000;

/** A wrapper's claim on the session that it is about to attach, `<epoch ms>.<random>`: others count the session as attached. */
export function newClaim(now: number): string {
  return `${now}.${crypto.randomUUID().slice(0, 8)}`;
}

/** Replaces a claim once its wrapper is attached: void, but new, so that no other wrapper's outdated view matches it. */
export function spentClaim(): string {
  return newClaim(0);
}

/** False for an empty claim, an old one, and one from the future of a clock that was set back since. */
export function isClaimed(claim: string, now: number): boolean {
  const made = Number(claim.split(".")[0]);
  return claim !== "" && Math.abs(now - made) < CLAIM_LIFE_MS;
}
