/** One look at a pane with the guard's verdict, and the guarded commands that type into it. */
import { type TmuxCommand, verbs } from "../tmux/argv.ts";
import { TmuxError } from "../tmux/server.ts";
import { guardFormat, judgePane, type ProcessFacts } from "./guard.ts";
import { failureOutcome } from "./inject_failure.ts";
import type { PaneContext } from "./inject_host.ts";
import { type Observation, observe } from "./observe.ts";
import { type Outcome, refused } from "./outcome.ts";
import { mayAnswerDialogs } from "./policy.ts";
import { GUARD_REFUSED, guarded } from "./typing.ts";

/** The pane as it was seen, with what the operating system says of its process. */
export type Seen = Observation & { process: ProcessFacts };
export type PaneCheck = { seen: Seen } | { outcome: Outcome };

/** One look at the pane, and the guard's verdict. */
export async function checkPane({ target, server, input, host }: PaneContext): Promise<PaneCheck> {
  try {
    const { recordedPid } = target;
    const [seen, expected] = await Promise.all([
      observe(server, target),
      recordedPid === 0 ? undefined : host.processFacts(recordedPid),
    ]);
    const process = seen.pane.pid === recordedPid && expected || await host.processFacts(seen.pane.pid);
    const { recordedPid: recorded, isProfiled } = target;
    const reason = judgePane(seen.pane, { process, recordedPid: recorded, isProfiled });
    if (reason !== undefined) return { outcome: refused(reason) };
    input.look(seen.reading, target.profile);
    return { seen: { ...seen, process } };
  } catch (error) {
    if (error instanceof TmuxError) return { outcome: failureOutcome(error) };
    throw error;
  }
}

/** The guard for this pane as it was seen. */
export function guardOf({ target, host }: PaneContext, seen: Seen): string {
  return guardFormat({
    pid: seen.pane.pid,
    command: seen.process.shellBelow ? seen.pane.command : undefined,
    dialog: mayAnswerDialogs(host.policy) ? undefined : target.profile.dialog,
    dialogRow: seen.dialogRow,
  });
}

/** Presses one key in one tmux queue with the guard; false when tmux found the guard false. Throws TmuxError. */
export async function pressKey(context: PaneContext, seen: Seen, key: string): Promise<boolean> {
  return await runGuarded(context, seen, verbs.sendKey(context.target.pane, key));
}

/** The same for any command that types. */
export async function runGuarded(context: PaneContext, seen: Seen, command: TmuxCommand): Promise<boolean> {
  const { target, server } = context;
  const commands = [verbs.leaveModes(target.pane), command];
  const answer = await server.run(guarded(target.pane, guardOf(context, seen), commands));
  return !answer.includes(GUARD_REFUSED);
}
