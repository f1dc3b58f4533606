/** Decides the state of each session's agent: from its hooks, else from its screen, else from tmux activity. */
import type { ScreenReading } from "../../agents/profile.ts";
import type { AgentState } from "../../protocol/session.ts";
import type { TmuxSession } from "../../tmux/sessions.ts";
import { isAlive } from "./session_entry.ts";
import type { HookReport } from "../../home/control_messages.ts";
import { ASK_EVENT, ASK_REPORT_MS } from "../../home/tell_daemon.ts";

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

/** A hook's report outweighs the screen for this long, in milliseconds: the screen follows a moment later. */
export const HOOK_FRESH_MS = 1_500;
/** A question whose asker reports no more waits no longer, in milliseconds. */
export const ASK_LIFE_MS = 2 * ASK_REPORT_MS + 1_000;

export interface HookHint {
  state: AgentState;
  /** Epoch milliseconds. */
  at: number;
  /** What the screen showed when the hook reported. */
  before: AgentState | undefined;
}

/** False once the hint is old, or the screen has moved on since. */
export function decides({ state, at, before }: HookHint, seen: SeenScreen | undefined, now: number): boolean {
  if (now - at >= HOOK_FRESH_MS) return false;
  const shown = seen !== undefined && seen.at >= at ? seen.reading.state : undefined;
  return shown === undefined || shown === before || shown === state;
}

/**
 * True when the report can be this session's. An agent may start others, in other panes or for other projects, with the
 * environment of its own pane.
 */
export function speaksFor({ cwd, pane }: HookReport, { recorded }: TmuxSession): boolean {
  const isItsPane = pane === undefined || recorded.pane === "" || pane === recorded.pane;
  const { directory } = recorded;
  const isItsPlace = directory === "" || isAtOrBelow(cwd, directory) || isAtOrBelow(directory, cwd);
  return isItsPane && isItsPlace;
}

function isAtOrBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

interface Hinted {
  report: HookReport;
  hint: HookHint;
}

interface OpenAsk {
  report: HookReport;
  /** Epoch milliseconds. */
  since: number;
  until: number;
  /** The screen showed rest meanwhile. */
  hasRested: boolean;
  /** The agent has gone on without the answer: some never take their call back. */
  isLeft: boolean;
}

/** By the session's name; a report counts only for a session that it can speak for. */
export class StateHints {
  #hints = new Map<string, Hinted>();
  /** Each session's questions, by what their reports call them. */
  #asks = new Map<string, Map<string, OpenAsk>>();

  /** `before`: what the session's screen shows. */
  take(report: HookReport, { before, now }: { before: AgentState | undefined; now: number }): void {
    const { session, state } = report;
    if (session === undefined || state === undefined) return;
    if (report.event === ASK_EVENT) return this.#takeAsk(session, { report, now });
    this.#hints.set(session, { report, hint: { state, at: now, before } });
    const beginsTurn = state === "working" && report.tool === undefined;
    for (const ask of this.#asks.get(session)?.values() ?? []) {
      if (state === "idle" || (beginsTurn && ask.hasRested)) ask.isLeft = true;
    }
  }

  #takeAsk(session: string, { report, now }: { report: HookReport; now: number }): void {
    const asks = this.#asks.get(session) ?? new Map<string, OpenAsk>();
    this.#asks.set(session, asks);
    for (const [id, { until }] of asks) if (now >= until) asks.delete(id);
    const id = report.ask ?? "";
    if (report.state !== "waiting") return void asks.delete(id);
    const ask = asks.get(id) ?? { since: now, hasRested: false, isLeft: false };
    asks.set(id, { ...ask, report, until: now + ASK_LIFE_MS });
  }

  hint(session: TmuxSession): HookHint | undefined {
    const found = this.#hints.get(session.name);
    return found !== undefined && speaksFor(found.report, session) ? found.hint : undefined;
  }

  /** An agent that waits for an answer shows work. */
  isAsking(session: TmuxSession, { seen, now }: { seen: SeenScreen | undefined; now: number }): boolean {
    let asking = false;
    for (const ask of this.#asks.get(session.name)?.values() ?? []) {
      if (ask.isLeft || now >= ask.until || !speaksFor(ask.report, session)) continue;
      const rests = seen?.reading.state === "idle" && seen.at >= ask.since + HOOK_FRESH_MS;
      ask.hasRested ||= rests;
      asking ||= !rests;
    }
    return asking;
  }

  /** Forgets sessions that are gone. */
  keep(sessions: readonly TmuxSession[]): void {
    const names = new Set(sessions.map(({ name }) => name));
    for (const map of [this.#hints, this.#asks]) {
      for (const name of map.keys()) if (!names.has(name)) map.delete(name);
    }
  }
}
