/** Types a message's text, guarded, at most once. */
import { TmuxError } from "../tmux/server.ts";
import { guardFormat } from "./guard.ts";
import type { Attempt, Sight } from "./inject_host.ts";
import { failureOutcome } from "./inject_failure.ts";
import type { Seen } from "./hold.ts";
import type { Outcome } from "./outcome.ts";
import { GUARD_REFUSED, typedText, typingMethod, typingRequests } from "./typing.ts";

/** `refused`: tmux found the guard false at the moment of typing. */
export type Typing = { kind: "typed" } | { kind: "refused" } | { kind: "failed"; outcome: Outcome };

/** The guard for this pane as it was seen. */
export function guardOf({ target, host }: Sight, seen: Seen): string {
  return guardFormat({
    pid: seen.pane.pid,
    command: seen.process.shellBelow ? seen.pane.command : undefined,
    dialog: host.policy.allowRemoteApproval ? undefined : target.profile.dialog,
    dialogRow: seen.dialogRow,
  });
}

/** The journal says "typing" already. */
export async function typeText(attempt: Attempt, seen: Seen): Promise<Typing> {
  const { command, target, server, host } = attempt;
  const { typing } = target.profile;
  const requests = typingRequests(target.pane, {
    text: typedText(command.body, typing),
    method: typingMethod(command.body, { typing, shellBelow: seen.process.shellBelow }),
    guard: guardOf(attempt, seen),
  });
  try {
    for (const request of requests.fill) await server.run(...request);
    const answer = await server.run(...requests.type);
    if (!answer.includes(GUARD_REFUSED)) {
      await host.record(command.id, "typed");
      return { kind: "typed" };
    }
    await host.record(command.id, "accepted");
    return { kind: "refused" };
  } catch (error) {
    if (!(error instanceof TmuxError)) throw error;
    return { kind: "failed", outcome: error.lost ? { state: "unknown" } : failureOutcome(error) };
  }
}
