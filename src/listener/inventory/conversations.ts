/**
 * Recognizes an agent that the agent of a pane runs as a tool and that is of the same kind, such as `claude -p`: its
 * hooks name the same session and pane. Only their conversations differ.
 */
import type { HookReport } from "../../home/control_socket.ts";

interface Conversation {
  id: string;
  /**
   * The tool calls under way, by their ids ("" for those of an agent that gives them none): when they began, by the
   * clock's `elapsed`.
   */
  calls: Map<string, number>;
}

const START = /^sessionStart$/i;
const END = /^sessionEnd$/i;
/** How a conversation begins in a process that has just started. Others continue in the same one: `clear`, `resume`. */
const NEW_PROCESS: readonly (string | undefined)[] = ["startup", "new", undefined];

export class Conversations {
  /** That of the pane's own agent, by pane. */
  readonly #own = new Map<string, Conversation>();

  /**
   * Takes a report that names this pane. True if it is from another conversation while a tool call of the pane's agent
   * is under way. `idleAt`: when its screen was idle, by `elapsed`. An interrupted call's end is not always reported.
   */
  isOfTool(
    pane: string,
    report: HookReport,
    { idleAt = -Infinity, elapsed }: { idleAt: number | undefined; elapsed: number },
  ): boolean {
    const { conversation: id, event, tool, state, source } = report;
    if (id === undefined) return false;
    const known = this.#own.get(pane);
    const isOther = known !== undefined && known.id !== id;
    const continues = START.test(event) && !NEW_PROCESS.includes(source);
    const isInCall = known?.calls.values().some((begun) => begun > idleAt) ?? false;
    if (isOther && isInCall && !continues) return true;
    const { calls } = known === undefined || isOther ? this.#begin(pane, id) : known;
    if (tool?.step === "before") calls.set(tool.id ?? "", elapsed);
    else if (tool?.step === "after") calls.delete(tool.id ?? "");
    else if (state === "idle" || state === "working" || END.test(event)) calls.clear();
    return false;
  }

  #begin(pane: string, id: string): Conversation {
    const conversation = { id, calls: new Map<string, number>() };
    this.#own.set(pane, conversation);
    return conversation;
  }

  /** Forgets panes that are gone. */
  keep(panes: ReadonlySet<string>): void {
    for (const pane of this.#own.keys()) if (!panes.has(pane)) this.#own.delete(pane);
  }
}
