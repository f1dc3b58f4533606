/** Builds the inventory: every agent session of every tmux server of this user. */
import { agentProfile } from "../agents/registry.ts";
import type { ScreenReading } from "../agents/profile.ts";
import { unknownAgent } from "../agents/unknown.ts";
import { isAgentKind } from "../protocol/names.ts";
import { SESSIONS_MAX } from "../protocol/limits.ts";
import type { SessionEntry } from "../protocol/session.ts";
import type { TmuxServer } from "../tmux/server.ts";
import type { TmuxSession } from "../tmux/sessions.ts";
import { captureScreens } from "../tmux/screens.ts";
import { decideState, type HookHint, StateClock } from "./agent_states.ts";
import { isReported, toEntry } from "./entry.ts";

export interface InventoryHost {
  now(): number;
  sessions(): Promise<TmuxSession[]>;
  server(socket: string): TmuxServer;
  /** Which project directories are muted. */
  muted(): Promise<(directory: string) => boolean>;
}

interface Seen {
  activity: number;
  reading: ScreenReading;
}

export class Inventory {
  #host: InventoryHost;
  #clock = new StateClock();
  #seen = new Map<string, Seen>();
  #hints = new Map<string, HookHint>();

  constructor(host: InventoryHost) {
    this.#host = host;
  }

  /** A hook told the state of the session with this name. */
  hint(session: string, hint: HookHint): void {
    this.#hints.set(session, hint);
  }

  /** Sorted by name. */
  async read(): Promise<SessionEntry[]> {
    const sessions = (await this.#host.sessions()).filter(isReported).slice(0, SESSIONS_MAX);
    await this.#readScreens(sessions);
    const muted = await this.#host.muted();
    this.#clock.keep(sessions);
    this.#forget(sessions);
    const entries = sessions.map((session) => this.#entry(session, muted));
    return entries.sort((a, b) => a.name < b.name ? -1 : 1);
  }

  #entry(session: TmuxSession, muted: (directory: string) => boolean): SessionEntry {
    const now = this.#host.now();
    const reading = this.#seen.get(paneKey(session))?.reading;
    const state = decideState({ session, reading, hint: this.#hints.get(session.name), now });
    const stateSince = this.#clock.since(session, { state, now });
    return toEntry(session, { state, stateSince, muted: muted(session.recorded.directory) });
  }

  /** Captures only where something was drawn since the last look, one call for each server. */
  async #readScreens(sessions: readonly TmuxSession[]): Promise<void> {
    const stale = sessions.filter((one) => one.pane && !this.#isCurrent(one));
    const servers = Map.groupBy(stale, (session) => session.socket);
    for (const [socket, group] of servers) {
      const panes = group.flatMap((session) => session.pane?.id ?? []);
      const screens = await captureScreens(this.#host.server(socket), panes);
      for (const session of group) this.#remember(session, screens.get(session.pane?.id ?? ""));
    }
  }

  #isCurrent(session: TmuxSession): boolean {
    const seen = this.#seen.get(paneKey(session));
    const quiet = this.#host.now() - session.activity * 1_000 > 2_000;
    return seen !== undefined && quiet && seen.activity === session.activity;
  }

  #remember(session: TmuxSession, lines: string[] | undefined): void {
    if (lines === undefined || session.pane === undefined) return;
    const kind = session.recorded.agent;
    const profile = isAgentKind(kind) ? agentProfile(kind) : unknownAgent;
    const cursor = { x: 0, y: 0, visible: true };
    const reading = profile.readScreen({ lines, title: session.pane.title, cursor });
    this.#seen.set(paneKey(session), { activity: session.activity, reading });
  }

  #forget(sessions: readonly TmuxSession[]): void {
    const panes = new Set(sessions.map(paneKey));
    for (const key of this.#seen.keys()) if (!panes.has(key)) this.#seen.delete(key);
    const names = new Set(sessions.map((session) => session.name));
    for (const name of this.#hints.keys()) if (!names.has(name)) this.#hints.delete(name);
  }
}

function paneKey(session: TmuxSession): string {
  return `${session.socket} ${session.id} ${session.pane?.id ?? ""} ${session.pane?.pid ?? ""}`;
}
