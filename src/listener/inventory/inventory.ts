/** Builds the inventory of this user's agent sessions on all tmux servers, and decides when to read it again. */
import { agentProfile } from "../../agents/profiles.ts";
import { MAX_SCREEN_COLUMNS, MAX_SCREEN_ROWS } from "../../agents/read_screen.ts";
import { unknownAgent } from "../../agents/unknown/profile.ts";
import type { HookReport } from "../../home/control_messages.ts";
import { isAgentKind } from "../../protocol/names.ts";
import { INVENTORY_POLL_MS, SESSIONS_MAX } from "../../protocol/limits.ts";
import type { AgentState, SessionEntry } from "../../protocol/session.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { captureScreens, type TmuxSession } from "../../tmux/sessions.ts";
import { decideState, type SeenScreen, speaksFor, StateClock, StateHints } from "./agent_state.ts";
import { isReported, toEntry } from "./session_entry.ts";

export interface InventoryHost {
  now(): number;
  sessions(): Promise<TmuxSession[]>;
  server(socket: string): TmuxServer;
  /** Of the agent that runs as this process, where the system shows it. */
  version?(pid: number): Promise<string | undefined>;
  /** Keys of the configuration that widen what a phone may do. */
  widened?: readonly string[];
  /** Which project directories are muted. */
  muted(): Promise<(directory: string) => boolean>;
}

interface Seen extends SeenScreen {
  /** Of the session, as tmux had it when the screen was captured: epoch seconds. */
  activity: number;
  /** The last state that the screen or a hook showed. */
  known: AgentState | undefined;
}

export class Inventory {
  #host: InventoryHost;
  #clock = new StateClock();
  #seen = new Map<string, Seen>();
  #hints = new StateHints();
  #pace = new LookPace();
  /** By pane. */
  #versions = new Map<string, string | undefined>();
  #sessions: TmuxSession[] = [];
  #entries: SessionEntry[] = [];

  constructor(host: InventoryHost) {
    this.#host = host;
  }

  /** A hook reported. Not every report that names a session is that session's. */
  take(report: HookReport): void {
    const now = this.#host.now();
    this.#pace.soon(now);
    const session = this.#sessions.find(({ name }) => name === report.session);
    if (session !== undefined && !speaksFor(report, session)) return;
    const before = session && this.#seen.get(paneKey(session))?.reading.state;
    this.#hints.take(report, { before, now });
  }

  /** Something was typed, or drawn: `nextReadMs` is short for a while. */
  readSoon(): void {
    this.#pace.soon(this.#host.now());
  }

  /** Milliseconds until the inventory should be read again. */
  nextReadMs(): number {
    return this.#pace.nextMs(this.#entries, this.#host.now());
  }

  /** Sorted by name. */
  async read(): Promise<SessionEntry[]> {
    const sessions = (await this.#host.sessions()).filter(isReported).slice(0, SESSIONS_MAX);
    await this.#readScreens(sessions);
    await this.#readVersions(sessions);
    const muted = await this.#host.muted();
    this.#sessions = sessions;
    this.#clock.keep(sessions);
    this.#forget(sessions);
    const entries = sessions.map((session) => this.#entry(session, muted));
    this.#entries = entries.sort((a, b) => a.name < b.name ? -1 : 1);
    return this.#entries;
  }

  #entry(session: TmuxSession, muted: (directory: string) => boolean): SessionEntry {
    const now = this.#host.now();
    const seen = this.#seen.get(paneKey(session));
    const hint = this.#hints.hint(session);
    if (seen !== undefined) seen.known = newest(seen, hint) ?? seen.known;
    const asking = this.#hints.isAsking(session, { seen, now });
    const state = decideState({ session, seen, hint, asking, known: seen?.known, now });
    const stateSince = this.#clock.since(session, { state, now });
    return toEntry(session, {
      ...{ state, stateSince, muted: muted(session.recorded.directory) },
      version: this.#versions.get(paneKey(session)),
      widened: this.#host.widened ?? [],
    });
  }

  /** Once for each pane: an agent that is upgraded while it runs stays what it is. */
  async #readVersions(sessions: readonly TmuxSession[]): Promise<void> {
    for (const session of sessions) {
      const key = paneKey(session);
      if (this.#versions.has(key) || session.pane === undefined || session.recorded.agent === "") continue;
      this.#versions.set(key, await this.#host.version?.(session.pane.pid));
    }
  }

  /** Captures only where something may have been drawn since the last capture, by one call for each server. */
  async #readScreens(sessions: readonly TmuxSession[]): Promise<void> {
    const stale = sessions.filter((one) => one.pane && !this.#isCurrent(one));
    const [large, small] = [stale.filter(isTooLarge), stale.filter((one) => !isTooLarge(one))];
    for (const session of large) this.#remember(session, { lines: [], at: this.#host.now() });
    const servers = Map.groupBy(small, (session) => session.socket);
    for (const [socket, group] of servers) {
      const panes = group.flatMap((session) => session.pane?.id ?? []);
      const at = this.#host.now();
      const screens = await captureScreens(this.#host.server(socket), panes);
      for (const session of group) {
        this.#remember(session, { lines: screens.get(session.pane?.id ?? ""), at });
      }
    }
  }

  /** tmux counts activity in whole seconds: more may be drawn in the second of a capture. */
  #isCurrent(session: TmuxSession): boolean {
    const seen = this.#seen.get(paneKey(session));
    return seen !== undefined && seen.activity === session.activity &&
      seen.at >= (session.activity + 1) * 1_000;
  }

  #remember(session: TmuxSession, { lines, at }: { lines: string[] | undefined; at: number }): void {
    if (lines === undefined || session.pane === undefined) return;
    const kind = session.recorded.agent;
    const profile = isAgentKind(kind) ? agentProfile(kind) : unknownAgent;
    const { title, cursor, applicationKeys } = session.pane;
    const reading = profile.readScreen({ lines, title, cursor, applicationKeys });
    const known = this.#seen.get(paneKey(session))?.known;
    this.#seen.set(paneKey(session), { activity: session.activity, at, reading, known });
  }

  #forget(sessions: readonly TmuxSession[]): void {
    const panes = new Set(sessions.map(paneKey));
    for (const key of this.#seen.keys()) if (!panes.has(key)) this.#seen.delete(key);
    for (const key of this.#versions.keys()) if (!panes.has(key)) this.#versions.delete(key);
    this.#hints.keep(sessions);
  }
}

/** Profiles read no screen of this size, and capturing it would delay the other sessions. */
function isTooLarge({ pane }: TmuxSession): boolean {
  return pane !== undefined && (pane.cols > MAX_SCREEN_COLUMNS || pane.rows > MAX_SCREEN_ROWS);
}

/** The state in the newer of the screen and the hint; undefined where neither shows one. */
function newest(seen: Seen, hint: { state: AgentState; at: number } | undefined): AgentState | undefined {
  const shown = seen.reading.state;
  return hint !== undefined && (shown === undefined || hint.at > seen.at) ? hint.state : shown;
}

function paneKey(session: TmuxSession): string {
  return `${session.socket} ${session.id} ${session.pane?.id ?? ""} ${session.pane?.pid ?? ""}`;
}

/** After a hook's report, and after input that svc typed, in milliseconds. */
export const LOOK_SOON_MS = 400;
/** For so long after it, in milliseconds: the agent's screen follows, and may change again. */
export const SOON_FOR_MS = 3_000;
/** While an agent works, starts or waits: it may be interrupted, or its dialog answered, and no hook reports that. */
export const LOOK_BUSY_MS = 1_000;
/** While someone is attached, or something was drawn a short time ago. */
export const LOOK_ATTENDED_MS = 1_500;
export const ATTENDED_FOR_MS = 15_000;
/** Never more often than this, in milliseconds, however many reports come. */
export const LOOK_GAP_MS = 200;

const BUSY: readonly SessionEntry["state"][] = ["working", "starting", "waiting"];

export class LookPace {
  #soonUntil = -Infinity;

  /** Something happened, or is about to. */
  soon(now: number): void {
    this.#soonUntil = now + SOON_FOR_MS;
  }

  /** Milliseconds from the reading of these sessions to the next one. */
  nextMs(sessions: readonly SessionEntry[], now: number): number {
    if (now < this.#soonUntil) return LOOK_SOON_MS;
    if (sessions.some(({ state }) => BUSY.includes(state))) return LOOK_BUSY_MS;
    const isAttended = sessions.some((one) => one.attached || now - one.lastActivity < ATTENDED_FOR_MS);
    return isAttended ? LOOK_ATTENDED_MS : INVENTORY_POLL_MS;
  }
}
