/** The usage limits that agents' screens and hooks report, each until it is reset. */
import { readUsageLimit, type UsageLimit } from "../../agents/screen_texts.ts";
import type { HookReport } from "../../home/control_socket.ts";
import type { AgentState, SessionEntry } from "../../protocol/session.ts";
import type { TmuxSession } from "../../tmux/sessions.ts";
import { RESET_MARGIN_MS } from "../waiting_pushes.ts";
import { paneKey } from "./session_entry.ts";

/** Claude's hook for a turn that an error ended: its text may say that the usage limit is reached. */
const LIMIT_EVENT = "StopFailure";

/** Reports of a limit by sessions that no read has found yet; of more, the latest. */
const EARLY_MAX = 100;

/** What a hook reported, and when, in epoch milliseconds. */
interface Reported {
  report: HookReport;
  now: number;
}

export class UsageLimits {
  /** By pane. */
  readonly #limits = new Map<string, UsageLimit>();
  /** Of sessions that the next read finds. */
  #early: Reported[] = [];

  /** Takes a hook's report; `session` is undefined if the last read found none for it. */
  takeReport(reported: Reported, session: TmuxSession | undefined): void {
    if (reported.report.event !== LIMIT_EVENT) return;
    if (session === undefined) this.#early = [...this.#early, reported].slice(-EARLY_MAX);
    else this.#takeReported(session, reported);
  }

  /** Takes the reports that came before the read that found their sessions; `sessionOf` returns the one of a report. */
  takeEarly(sessionOf: (report: HookReport) => TmuxSession | undefined): void {
    for (const reported of this.#early.splice(0)) {
      const session = sessionOf(reported.report);
      if (session !== undefined) this.#takeReported(session, reported);
    }
  }

  #takeReported(session: TmuxSession, { report, now }: Reported): void {
    if (session.recorded.agent === "") return;
    this.#note(paneKey(session), readUsageLimit([report.news?.body ?? ""], now));
  }

  /** Takes a new screen of the pane, captured at `now` in epoch milliseconds. */
  takeScreen(pane: string, { lines, now }: { lines: readonly string[]; now: number }): void {
    const limit = readUsageLimit(lines, now);
    // A limit without a time lasts for as long as the screen shows it.
    const isTimed = this.#limits.get(pane)?.resetsAt !== undefined;
    if (limit === undefined && !isTimed) this.#limits.delete(pane);
    this.#note(pane, limit);
  }

  /** Stores a new limit. The same text read again does not mean a later one. */
  #note(pane: string, limit: UsageLimit | undefined): void {
    if (limit === undefined || this.#limits.get(pane)?.text === limit.text) return;
    this.#limits.set(pane, limit);
  }

  /** The limit that holds back a pane's agent at `now`, in epoch milliseconds. */
  of(pane: string, { state, now }: { state: AgentState; now: number }): SessionEntry["limit"] {
    const limit = this.#limits.get(pane);
    if (limit === undefined || state === "working" || state === "exited") return undefined;
    const { resetsAt } = limit;
    if (resetsAt === undefined) return {};
    return now < resetsAt + RESET_MARGIN_MS ? { resetsAt } : undefined;
  }

  keep(panes: ReadonlySet<string>): void {
    for (const key of this.#limits.keys()) if (!panes.has(key)) this.#limits.delete(key);
  }
}
