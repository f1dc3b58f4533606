/** Types a message's text: what may happen before the journal says so, and what follows it. */
import type { TmuxCommand } from "../../tmux/argv.ts";
import { TmuxError } from "../../tmux/server.ts";
import type { Command, InjectContext, Outcome, PaneContext } from "./context.ts";
import { GUARD_REFUSED, typedText, typingMethod, typingRequests } from "./guard.ts";
import { failureOutcome, guardOf, type PaneState } from "./pane_check.ts";

type TextAttempt = PaneContext & Pick<InjectContext, "record"> & { command: Pick<Command, "id" | "body"> };

interface FilledText {
  type: TmuxCommand[];
  filled: Promise<void>;
  /** Removes what was filled. */
  discard(): Promise<void>;
}

/** Begins to fill the paste buffer of a text that needs one. Nothing is typed. */
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
  const discard = async (): Promise<void> => {
    await filled.then(() => server.run(...requests.discard)).catch(() => {});
  };
  filled.catch(() => {});
  return { type: requests.type, filled, discard };
}

/** Types the text behind the guard. `refused`: tmux found the guard false at the moment of typing. The journal already says "typing". */
export async function typeText(
  { command, server, input, record }: TextAttempt,
  { type, filled }: FilledText,
): Promise<"typed" | "refused" | Outcome> {
  try {
    await filled;
    const answer = await server.run(...type);
    const isTyped = !answer.includes(GUARD_REFUSED);
    if (isTyped) input.forgetKeys();
    await record(command.id, isTyped ? "typed" : "accepted");
    return isTyped ? "typed" : "refused";
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    return error.lost ? { state: "unknown" } : failureOutcome(error);
  }
}
