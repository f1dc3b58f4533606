/** The state of each session's agent: from its hooks at once, else from its screen, else from activity. */
import type { ScreenReading } from "../agents/profile.ts";
import type { AgentState } from "../protocol/session.ts";
import type { TmuxSession } from "../tmux/sessions.ts";
import { isAlive } from "./entry.ts";

/** A hook's word outweighs the screen for this long: the screen follows it a moment later. */
export const HOOK_FRESH_MS = 2_000;
/** Output within this time counts as work when nothing else tells. */
export const ACTIVE_MS = 6_000;
/** A session younger than this whose screen tells nothing is starting. */
export const STARTING_MS = 15_000;

export interface HookHint {
  state: AgentState;
  at: number;
}

export interface StateFacts {
  session: TmuxSession;
  reading: ScreenReading | undefined;
  hint: HookHint | undefined;
  now: number;
}

/** A dialog on the screen is the most pessimistic word and wins; hooks go stale, for example after Esc. */
export function decideState({ session, reading, hint, now }: StateFacts): AgentState {
  if (!isAlive(session)) return "exited";
  if (reading?.focus === "dialog") return "waiting";
  if (hint && now - hint.at < HOOK_FRESH_MS) return hint.state;
  if (reading?.state) return reading.state;
  if (now - session.created * 1_000 < STARTING_MS) return "starting";
  return now - session.activity * 1_000 < ACTIVE_MS ? "working" : "idle";
}

/** Remembers since when each session is in its state. Sessions are told apart by server and id. */
export class StateClock {
  #since = new Map<string, { state: AgentState; at: number }>();

  /** Epoch milliseconds since which `session` is in `state`. */
  since(session: TmuxSession, { state, now }: { state: AgentState; now: number }): number {
    const key = `${session.socket} ${session.id} ${session.created}`;
    const known = this.#since.get(key);
    if (known?.state === state) return known.at;
    this.#since.set(key, { state, at: now });
    return now;
  }

  /** Forgets sessions that are gone. */
  keep(sessions: readonly TmuxSession[]): void {
    const live = new Set(sessions.map((session) => `${session.socket} ${session.id} ${session.created}`));
    for (const key of this.#since.keys()) if (!live.has(key)) this.#since.delete(key);
  }
}
