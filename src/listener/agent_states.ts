/** The state of each session's agent: from its hooks at once, else from its screen, else from activity. */
import type { ScreenReading } from "../agents/profile.ts";
import type { AgentState } from "../protocol/session.ts";
import type { TmuxSession } from "../tmux/sessions.ts";
import { isAlive } from "./entry.ts";
import { decides, type HookHint } from "./state_hints.ts";

/** Output within this time counts as work when nothing else shows the state. */
export const ACTIVE_MS = 6_000;
/** A session younger than this whose screen shows nothing is starting. */
export const STARTING_MS = 15_000;

/** A reading of a session's screen. */
export interface SeenScreen {
  reading: ScreenReading;
  /** When the screen was captured, in epoch milliseconds. */
  at: number;
}

export interface StateFacts {
  session: TmuxSession;
  seen: SeenScreen | undefined;
  hint: HookHint | undefined;
  /** A question of `svc_ask` waits for the person. */
  asking: boolean;
  /** The last state that the screen or a hook showed. */
  known: AgentState | undefined;
  /** Epoch milliseconds. */
  now: number;
}

/** A dialog on the screen wins over every hook: hooks say nothing of its end, nor of the end of a turn by Esc. */
export function decideState({ session, seen, hint, asking, known, now }: StateFacts): AgentState {
  if (!isAlive(session)) return "exited";
  const reading = seen?.reading;
  if (asking || reading?.focus === "dialog") return "waiting";
  if (hint && decides(hint, seen, now)) return hint.state;
  // A menu or pager may hide the agent: what it did before goes on behind it.
  const shown = reading?.state ?? known;
  if (shown) return shown;
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
