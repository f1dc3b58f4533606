/** Which tool call a dialog belongs to, and what an agent's later reports say about the dialog and its answer. */
import type { DialogAnswer } from "../../agents/hooks.ts";
import type { HookReport } from "../../home/control_socket.ts";
import { ASK_EVENT } from "../../home/notify_daemon.ts";
import { SESSIONS_MAX } from "../../protocol/limits.ts";

/** The tool calls of each session that have not ended: Claude's dialogs do not name theirs. */
export class OpenCalls {
  readonly #calls = new Map<string, Set<string>>();

  note(report: HookReport): void {
    const { session = "", tool, state } = report;
    const calls = this.#calls.get(session) ?? new Set();
    // An interrupted turn may report neither its end nor that of its call: the next prompt shows both.
    const isOver = state === "idle" || isNewTurn(report);
    if (tool === undefined) return void (isOver && this.#calls.delete(session));
    if (tool.id === undefined || tool.subagent === true) return;
    if (tool.step === "after") return void calls.delete(tool.id);
    this.#calls.delete(session);
    this.#calls.set(session, calls.add(tool.id));
    for (const oldest of this.#calls.keys()) if (this.#calls.size > SESSIONS_MAX) this.#calls.delete(oldest);
  }

  /** The id of the call whose dialog it is, if the agent names it or only one can be meant. */
  of({ session = "", tool }: HookReport): string | undefined {
    const calls = [...this.#calls.get(session) ?? []];
    return tool?.id ?? (calls.length === 1 ? calls[0] : undefined);
  }
}

/** The call of this dialog has ended, or its turn: nobody shows the dialog any more. */
export function wasAnsweredElsewhere(
  { tool, state }: HookReport,
  card: { tool: string | undefined },
): boolean {
  if (tool !== undefined) return tool.step === "after" && tool.id !== undefined && tool.id === card.tool;
  return state === "idle" || state === "working";
}

/** The user has submitted a prompt. */
export function isNewTurn({ event, tool, state }: HookReport): boolean {
  return tool === undefined && state === "working" && event !== ASK_EVENT;
}

/** Of an answer that the hook has printed. */
interface Given {
  tool: string | undefined;
  isShown: boolean;
  answer: DialogAnswer | undefined;
  isFollowed: boolean;
}

/** `likely`: unless the call's end is still to be reported, which some agents do in the background. */
export type Sign = "applied" | "likely" | "gone";

/**
 * What a report says about an answer that the hook has printed: a refused call does not run, an allowed one does. A call
 * without an id is the only one under way. While a dialog is held back, a turn that ends by itself was not interrupted there.
 */
export function signOf(
  { tool, state, news }: Pick<HookReport, "tool" | "state" | "news">,
  { tool: own, isShown, answer, isFollowed }: Given,
): Sign | undefined {
  const isRejection = answer?.kind === "decided" && answer.decision === "reject";
  if (isFollowed && (tool?.id === undefined || tool.id !== own)) return undefined;
  if (tool?.step === "after") {
    if (tool.id !== own) return undefined;
    return isRejection ? own === undefined ? undefined : "gone" : "applied";
  }
  if (news?.type === "agent.stop" && !isShown) return "applied";
  const goesOn = tool === undefined ? state === "idle" || state === "working" : tool.id !== own;
  return goesOn && isRejection ? isShown ? "likely" : "applied" : undefined;
}
