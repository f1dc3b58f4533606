/**
 * Watches the dialog behind an open card: whether the session's screen still shows that it waits, and what the agent's
 * later reports show about it and its answer.
 */
import { type Clock, delay } from "../../async/clock.ts";
import { errorText } from "../../async/error_text.ts";
import { setNewest } from "../../async/newest.ts";
import type { LocalView } from "../inject/pane_check.ts";
import type { Place } from "../targets.ts";
import type { Card, Sign } from "./card.ts";
import type { DialogAnswer } from "../../agents/hooks.ts";
import type { HookReport } from "../../home/control_socket.ts";
import { ASK_EVENT } from "../../home/notify_daemon.ts";
import { SESSIONS_MAX } from "../../protocol/limits.ts";

/** How often an open card checks whether its dialog was answered at the computer, or the local user is back. */
const WATCH_POLL_MS = 500;
/** A dialog is gone when this many checks in a row do not see it, GONE_STEP_MS apart. */
const GONE_LOOKS = 3;
const GONE_STEP_MS = 100;
/** A connection to the relay that is lost for longer than this ends the wait for a phone. */
export const LINK_LOST_MS = 5_000;
/** A dialog whose screen cannot be read for longer than this opens at the computer. */
export const UNREADABLE_MS = 10_000;

interface SessionView extends LocalView {
  /** Where it was found. */
  place: Place;
}

/** Reads what the card's session shows now, even after a rename. Throws TmuxError. */
export async function lookAt(
  card: Pick<Card, "place">,
  { look }: Pick<WatchOptions, "look">,
): Promise<SessionView | undefined> {
  const view = await look(card.place);
  if (view !== undefined) card.place = view.place;
  return view;
}

/** The parts of `CardsOptions` that a watch reads. */
export interface WatchOptions {
  clock: Clock;
  /** What is shown at the computer now; undefined for an unknown session. Throws TmuxError. */
  look(place: Place): Promise<SessionView | undefined>;
  isLinked(): boolean;
  log(line: string): void;
}

/**
 * Ends the wait when the dialog has left the screen, or the screen cannot be read for UNREADABLE_MS. While the hook
 * holds the dialog back, the first key at the computer and a relay that is lost for LINK_LOST_MS end it too. Never
 * throws.
 */
export async function watchCard(card: Card, options: WatchOptions): Promise<void> {
  const { clock } = options;
  const { signal } = card.end;
  let linkedAt = clock.elapsed();
  let readAt = clock.elapsed();
  try {
    while (card.answer === undefined) {
      if (options.isLinked()) linkedAt = clock.elapsed();
      const isAway = !card.isShown && clock.elapsed() - linkedAt > LINK_LOST_MS;
      const seen = await lookFor(card, { ...options, signal });
      if (seen !== "unreadable") readAt = clock.elapsed();
      if (isAway || seen === "gone" || clock.elapsed() - readAt > UNREADABLE_MS) return card.end.abort();
      await delay(WATCH_POLL_MS, { clock, signal });
    }
  } catch {
    card.end.abort();
  }
}

/**
 * Checks whether the dialog still waits. `gone`: the session is gone, or got a key while its hook held the dialog back;
 * or the screen no longer shows what it had shown before, the dialog or the agent at work. One check may see a
 * half-drawn screen, or fail on a busy machine, so several are made.
 */
export async function lookFor(
  card: Card,
  { log, clock, signal, ...options }: WatchOptions & { signal: AbortSignal },
): Promise<"open" | "gone" | "unreadable"> {
  for (let looks = 1;; looks++) {
    let view: LocalView | undefined;
    try {
      view = await lookAt(card, options);
    } catch (error) {
      log(`card: cannot see whether its dialog is still open: ${errorText(error)}`);
      return "unreadable";
    }
    if (view !== undefined) {
      if (!card.isShown && view.lastKeyAt > card.lastKeyAt) return "gone";
      const isOpen = card.isShown ? view.hasDialog : view.state !== "idle";
      if (isOpen) card.wasSeen = true;
      if (isOpen || !card.wasSeen) return "open";
    }
    if (looks === GONE_LOOKS) return "gone";
    await delay(GONE_STEP_MS, { clock, signal });
  }
}

/** The tool calls of each session that have not ended: Claude's dialogs do not name theirs. */
export class OpenCalls {
  readonly #calls = new Map<string, Set<string>>();

  note(report: HookReport): void {
    const { session = "", tool, state } = report;
    const calls = this.#calls.get(session) ?? new Set();
    // An interrupted turn may report neither its end nor that of its call: the next prompt implies both.
    const isOver = state === "idle" || isNewTurn(report);
    if (tool === undefined) return void (isOver && this.#calls.delete(session));
    if (tool.id === undefined || tool.subagent === true) return;
    if (tool.step === "after") return void calls.delete(tool.id);
    setNewest(this.#calls, [session, calls.add(tool.id)], { max: SESSIONS_MAX });
  }

  /** The id of the call that the dialog belongs to, if the agent names it or only one is open. */
  of({ session = "", tool }: HookReport): string | undefined {
    const calls = [...this.#calls.get(session) ?? []];
    return tool?.id ?? (calls.length === 1 ? calls[0] : undefined);
  }
}

/**
 * True for a report by a hook of the agent that asks: another one may run in its session, for example as its tool.
 * Panes are compared where both are known, since another session may have the name by now.
 */
export function isOfItsAgent(
  { session, agent, event, pane, socket }: HookReport,
  { asker }: Pick<Card, "asker">,
): boolean {
  if (agent !== asker.agent || event === ASK_EVENT) return false;
  const hasPanes = [pane, socket, asker.pane, asker.socket].every((one) => one !== undefined);
  return hasPanes ? pane === asker.pane && socket === asker.socket : session === asker.session;
}

/** True if the dialog's call, or its turn, has ended: the dialog is no longer open. */
export function wasAnsweredElsewhere(
  { tool, state }: HookReport,
  card: { tool: string | undefined },
): boolean {
  if (tool !== undefined) return tool.step === "after" && tool.id !== undefined && tool.id === card.tool;
  return state === "idle" || state === "working";
}

/** True if the user has submitted a prompt. */
export function isNewTurn({ event, tool, state }: HookReport): boolean {
  return tool === undefined && state === "working" && event !== ASK_EVENT;
}

/** An answer that the hook has printed. */
interface Given {
  tool: string | undefined;
  isShown: boolean;
  answer: DialogAnswer | undefined;
  isFollowed: boolean;
}

/**
 * What a report shows about an answer that the hook has printed: a refused call does not run, an allowed one does. A
 * call without an id is the only one under way. While a dialog is held back, a turn that ends by itself was not
 * interrupted at the computer.
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
