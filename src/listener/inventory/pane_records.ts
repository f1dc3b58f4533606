/** What the inventory remembers of each pane: its open dialog, its conversations and its usage limit. */
import { setNewest } from "../../async/newest.ts";
import { readUsageLimit, type UsageLimit } from "../../agents/screen_texts.ts";
import type { HookReport } from "../../home/control_socket.ts";
import type { AgentState, SessionEntry } from "../../protocol/session.ts";
import type { TmuxSession } from "../../tmux/sessions.ts";
import { RESET_MARGIN_MS } from "../waiting_pushes.ts";
import { type OpenDialog, paneKey } from "./session_entry.ts";

/** A dialog whose text differs in each of this many captures is accepted as it is. */
export const DIALOG_LOOKS_MAX = 3;

/** The dialogs that agents show: since when each is open, and its text. */
export class Dialogs {
  /** By pane. */
  readonly #open = new Map<string, OpenDialog>();
  /** By pane: what the last captures showed of a dialog that may be half drawn. */
  readonly #drawn = new Map<string, readonly string[]>();
  readonly #doubtful = new Set<string>();

  of(pane: string): OpenDialog | undefined {
    return this.#open.get(pane);
  }

  /** The last screen did not show the pane's dialog, or showed another one, but may have been half drawn: the next one decides. */
  isDoubtful(pane: string): boolean {
    return this.#doubtful.has(pane) || this.#drawn.has(pane);
  }

  /** True while a dialog waits for the next capture to confirm it. */
  get isAnyOpening(): boolean {
    return this.#drawn.size > 0;
  }

  /** Takes a new screen, with no `text` if it shows no dialog. True if another dialog has opened. */
  take(
    pane: string,
    { text, at, mayBeHalfDrawn = false }: { text: string | undefined; at: number; mayBeHalfDrawn?: boolean },
  ): boolean {
    const wasDoubtful = this.#doubtful.delete(pane);
    const [known, drawn] = [this.#open.get(pane), this.#drawn.get(pane)];
    if (text === undefined) {
      if ((known !== undefined || drawn !== undefined) && mayBeHalfDrawn && !wasDoubtful) {
        this.#doubtful.add(pane);
      } else this.#forget(pane);
      return false;
    }
    this.#drawn.delete(pane);
    if (known !== undefined && isSameDialog(known.text, text)) return false;
    const looks = [...drawn ?? [], text];
    const whole = wholeOf(looks);
    if (whole === undefined) {
      this.#drawn.set(pane, looks);
      return false;
    }
    this.#open.set(pane, { id: crypto.randomUUID(), since: at, text: whole });
    return true;
  }

  #forget(pane: string): void {
    for (const map of [this.#open, this.#drawn]) map.delete(pane);
    this.#doubtful.delete(pane);
  }

  /** Forgets panes that are gone. */
  keep(panes: ReadonlySet<string>): void {
    for (const pane of [...this.#open.keys(), ...this.#drawn.keys()]) {
      if (!panes.has(pane)) this.#forget(pane);
    }
  }
}

/** Marks of the selected choice; moving them does not make another dialog. */
const SELECTION = /[❯›●>]/gu;

/**
 * Returns the text on which the last two captures agree. If all differ because the agent keeps redrawing its dialog,
 * returns the last one, or an earlier one that contains it. Undefined while another capture is needed.
 */
function wholeOf(looks: readonly string[]): string | undefined {
  const [before, last = ""] = [looks.at(-2), looks.at(-1)];
  if (before !== undefined && isSameDialog(before, last)) return last;
  if (looks.length < DIALOG_LOOKS_MAX) return undefined;
  const having = looks.filter((one) => essence(one).includes(essence(last)));
  return having.toSorted((one, other) => other.length - one.length)[0];
}

export function isSameDialog(one: string, other: string): boolean {
  return essence(one) === essence(other);
}

function essence(text: string): string {
  return text.replace(SELECTION, " ").replace(/\s+/g, " ").trim();
}

interface PaneConversations {
  /** By conversation, in the order of their last reports: true if a tool works in it. */
  areTools: Map<string, boolean>;
  /** When the pane's own agent last began something, by the clock's `elapsed`; undefined once its turn has ended. */
  workedAt: number | undefined;
}

/** Conversations of one pane that are remembered; of more, the latest. */
const CONVERSATIONS_MAX = 200;

const START = /^sessionStart$/i;
const END = /^sessionEnd$/i;
/** How a conversation begins in the process of the one before it. Others begin in a new process, at least during a turn. */
const SAME_PROCESS: readonly (string | undefined)[] = ["clear", "compact"];

/**
 * Recognizes an agent that the agent of a pane runs as a tool and that is of the same kind, such as `claude -p`: its
 * hooks name the same session and pane. Only their conversations differ.
 */
export class Conversations {
  readonly #panes = new Map<string, PaneConversations>();
  readonly #early = new EarlyReports();

  /**
   * Takes a report that names this pane. True if it is from a conversation that began during a turn of the pane's agent.
   * `idleAt`: when its screen was idle, by `elapsed`. An interrupted turn's end is not always reported.
   */
  isOfTool(
    pane: string,
    report: HookReport,
    { idleAt = -Infinity, elapsed }: { idleAt: number | undefined; elapsed: number },
  ): boolean {
    const { conversation: id, event, tool, state, source } = report;
    // A person answers a dialog, also one of a task to which the agent itself gave a conversation.
    if (id === undefined || state === "waiting") return false;
    const known = this.#of(pane);
    const isInTurn = known.workedAt !== undefined && known.workedAt > idleAt;
    const begins = START.test(event) || (state === "working" && tool === undefined);
    let isTools = known.areTools.get(id);
    if (isTools === undefined || (isTools && begins && source !== "compact" && !isInTurn)) {
      isTools = isInTurn && !(START.test(event) && SAME_PROCESS.includes(source));
    }
    setNewest(known.areTools, [id, isTools], { max: CONVERSATIONS_MAX });
    if (isTools) return true;
    if (tool?.step === "before" || state === "working") known.workedAt = elapsed;
    else if (state === "idle" || END.test(event)) known.workedAt = undefined;
    return false;
  }

  /** Takes a report for whose pane the last read found no session: an agent may begin its turn before the first read. */
  takeUnplaced(reported: Reported): void {
    this.#early.add(reported);
  }

  /** Takes the reports that came before the read that found their panes; `paneOf` returns the one of a report. */
  placeEarly(paneOf: (report: HookReport) => string | undefined): void {
    for (const { report, elapsed } of this.#early.takeAll()) {
      const pane = paneOf(report);
      if (pane !== undefined) this.isOfTool(pane, report, { idleAt: undefined, elapsed });
    }
  }

  #of(pane: string): PaneConversations {
    const known = this.#panes.get(pane) ?? { areTools: new Map(), workedAt: undefined };
    this.#panes.set(pane, known);
    return known;
  }

  /** Forgets panes that are gone. */
  keep(panes: ReadonlySet<string>): void {
    for (const pane of this.#panes.keys()) if (!panes.has(pane)) this.#panes.delete(pane);
  }
}

/** Claude's hook for a turn that an error ended: its text may say that the usage limit is reached. */
const LIMIT_EVENT = "StopFailure";

/** The usage limits that screens and hooks report, each until it is reset. */
export class UsageLimits {
  /** By pane. */
  readonly #limits = new Map<string, UsageLimit>();
  /** Of sessions that the next read finds. */
  readonly #early = new EarlyReports();

  /** Takes a hook's report; `session` is undefined if the last read found none for it. */
  takeReport(reported: Reported, session: TmuxSession | undefined): void {
    if (reported.report.event !== LIMIT_EVENT) return;
    if (session === undefined) this.#early.add(reported);
    else this.#takeReported(session, reported);
  }

  /** Takes the reports that came before the read that found their sessions; `sessionOf` returns the one of a report. */
  takeEarly(sessionOf: (report: HookReport) => TmuxSession | undefined): void {
    for (const reported of this.#early.takeAll()) {
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

/** Reports that are kept until a read finds their pane; of more, the latest. */
const EARLY_MAX = 100;

/** A hook's report, and when it came. */
export interface Reported {
  report: HookReport;
  /** Epoch milliseconds. */
  now: number;
  /** By the clock's `elapsed`. */
  elapsed: number;
}

class EarlyReports {
  #reports: Reported[] = [];

  add(reported: Reported): void {
    this.#reports = [...this.#reports, reported].slice(-EARLY_MAX);
  }

  takeAll(): Reported[] {
    return this.#reports.splice(0);
  }
}
