/** Types a message's text: fills its paste buffer before the journal's entry is written, and types after that. */
import type { TmuxCommand } from "../../tmux/argv.ts";
import { TmuxError, type TmuxServer } from "../../tmux/server.ts";
import type { Command, InjectContext, Outcome, PaneContext } from "./context.ts";
import { runTyping, typedText, typingMethod, type TypingRequests, typingRequests } from "./guard.ts";
import { failureOutcome, guardOf, type PaneState } from "./pane_check.ts";

type TextAttempt = PaneContext & Pick<InjectContext, "record"> & { command: Pick<Command, "id" | "body"> };

interface FilledText {
  type: TmuxCommand[];
  filled: Promise<void>;
  /** Deletes the buffer, so that nothing can type it anymore. False if it was gone, or there was none. */
  discard(): Promise<boolean>;
}

/** Begins to fill a paste buffer, if the text needs one. Nothing is typed. */
export function fillText({ command, target, server, ...attempt }: TextAttempt, pane: PaneState): FilledText {
  const { typing } = target.profile;
  const requests = typingRequests(target.pane, {
    text: typedText(command.body, typing),
    method: typingMethod(command.body, { typing, shellBelow: pane.process.shellBelow }),
    guard: guardOf({ target, ...attempt }, pane),
  });
  const fill = async (): Promise<void> => {
    for (const request of requests.fill) await server.run(...request);
  };
  const filled = fill();
  const discard = async (): Promise<boolean> => {
    await filled.catch(() => {});
    return await discardText(server, requests);
  };
  filled.catch(() => {});
  return { type: requests.type, filled, discard };
}

/**
 * Deletes a filled or partly filled buffer, which tmux would keep as long as it runs. False if it was gone, or there
 * was none.
 */
export async function discardText(
  server: TmuxServer,
  { discard }: Pick<TypingRequests, "discard">,
): Promise<boolean> {
  if (discard.length === 0) return false;
  return await server.run(...discard).then(() => true, () => false);
}

/**
 * Types the text behind the guard. `refused`: nothing was typed, because tmux found the guard false at the moment of typing
 * or has lost the buffer. `typed`: the text is in the pane, or may be after a lost connection: Enter follows only when the
 * composer shows it. The journal already says "typing".
 */
export async function typeText(
  { command, target, server, input, record }: TextAttempt,
  { type, filled, discard }: FilledText,
): Promise<"typed" | "refused" | Outcome> {
  try {
    await filled;
  } catch (error) {
    await discard();
    return isLost(error) ? await note("accepted", "refused") : failed(error);
  }
  try {
    if (!await runTyping({ server, input }, type)) return await note("accepted", "refused");
  } catch (error) {
    const isDiscarded = await discard();
    if (!isLost(error)) return failed(error);
    if (isDiscarded) return await note("accepted", "refused");
    // No composer will show it, and Enter might submit what the local user has typed.
    if (!target.isProfiled) return { state: "unknown" };
  }
  input.forgetKeys();
  return await note("typed", "typed");

  /** After a crash the step before means the same, or an unknown outcome: a full disk changes nothing here. */
  async function note<T>(step: "accepted" | "typed", result: T): Promise<T> {
    await record(command.id, step).catch(() => {});
    return result;
  }
}

function isLost(error: unknown): boolean {
  return error instanceof TmuxError && error.lost;
}

function failed(error: unknown): Outcome {
  if (!(error instanceof TmuxError)) throw error;
  return failureOutcome(error);
}
