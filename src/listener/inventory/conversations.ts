/**
 * Recognizes an agent that the agent of a pane runs as a tool and that is of the same kind, such as `claude -p`: its
 * hooks name the same session and pane. Only their conversations differ.
 */
import type { HookReport } from "../../home/control_socket.ts";

interface PaneConversations {
  /** By conversation, in the order of their last reports: true if a tool works in it. */
  areTools: Map<string, boolean>;
  /** When the pane's own agent last began something, by the clock's `elapsed`; undefined once its turn has ended. */
  workedAt: number | undefined;
}

/** Conversations of one pane that are remembered; of more, the latest. */
const CONVERSATIONS_MAX = 200;

/** Reports whose pane no read has found yet; of more, the latest. */
const EARLY_MAX = 100;

/** A report, and when it came, by the clock's `elapsed`. */
interface Reported {
  report: HookReport;
  elapsed: number;
}

const START = /^sessionStart$/i;
const END = /^sessionEnd$/i;
/** How a conversation begins in the process of the one before it. Others begin in a new process, at least during a turn. */
const SAME_PROCESS: readonly (string | undefined)[] = ["clear", "compact"];

export class Conversations {
  readonly #panes = new Map<string, PaneConversations>();
  #early: Reported[] = [];

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
    known.areTools.delete(id);
    known.areTools.set(id, isTools);
    const [oldest = id] = known.areTools.keys();
    if (known.areTools.size > CONVERSATIONS_MAX) known.areTools.delete(oldest);
    if (isTools) return true;
    if (tool?.step === "before" || state === "working") known.workedAt = elapsed;
    else if (state === "idle" || END.test(event)) known.workedAt = undefined;
    return false;
  }

  /** Takes a report for whose pane the last read found no session: an agent may begin its turn before the first read. */
  takeUnplaced(reported: Reported): void {
    this.#early = [...this.#early, reported].slice(-EARLY_MAX);
  }

  /** Takes the reports that came before the read that found their panes; `paneOf` returns the one of a report. */
  placeEarly(paneOf: (report: HookReport) => string | undefined): void {
    for (const { report, elapsed } of this.#early.splice(0)) {
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
