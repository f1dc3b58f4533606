/** Guard, dialog and desk: looks at the pane until a message may go in, or never will. */
import { TmuxError } from "../tmux/server.ts";
import { judgePane, type ProcessFacts } from "./guard.ts";
import type { Attempt, Sight } from "./inject_host.ts";
import { failureOutcome } from "./inject_failure.ts";
import { type Observation, observe } from "./observe.ts";
import { type Outcome, refused } from "./outcome.ts";

/** A key at the desk within this time means that someone is typing. */
export const DESK_ACTIVE_MS = 2_000;
/** How long a message waits for the desk before it is refused. */
export const DESK_HOLD_MS = 10_000;
/** An agent that has shown no input line yet is starting, until its session is this old. */
export const START_HOLD_MS = 60_000;
/** How often a held message looks again; a hook's report is quicker. */
export const HOLD_STEP_MS = 200;

/** The pane as it was seen, with what the operating system says of its process. */
export type Seen = Observation & { process: ProcessFacts };
export type Clear = { seen: Seen } | { outcome: Outcome };
export type HoldReason = "dialog_open" | "agent_starting" | "desk_busy";

/** One look at the pane, and the guard's verdict. */
export async function look({ target, server, host }: Sight): Promise<Clear> {
  try {
    const { recordedPid } = target;
    const [seen, expected] = await Promise.all([
      observe(server, target),
      recordedPid === 0 ? undefined : host.processFacts(recordedPid),
    ]);
    const process = seen.pane.pid === recordedPid && expected || await host.processFacts(seen.pane.pid);
    const reason = judgePane(seen.pane, { process, recordedPid: target.recordedPid });
    return reason === undefined ? { seen: { ...seen, process } } : { outcome: refused(reason) };
  } catch (error) {
    if (error instanceof TmuxError) return { outcome: failureOutcome(error) };
    throw error;
  }
}

interface HoldOptions {
  now: number;
  /** A wrapper started the agent: its profile knows how its input line looks. */
  recorded: boolean;
  sendAnyway: boolean;
  allowRemoteApproval: boolean;
}

/**
 * Why a message must wait, or undefined. A dialog outweighs the desk. A draft that begins with `!` would make a shell
 * command of what is typed behind it, and an agent that starts loses what it gets: nobody can send anyway.
 */
export function holdReason(seen: Observation, options: HoldOptions): HoldReason | undefined {
  if (seen.reading.focus === "dialog" && !options.allowRemoteApproval) return "dialog_open";
  if (isStarting(seen, options)) return "agent_starting";
  if (seen.reading.draft?.startsWith("!")) return "desk_busy";
  if (options.sendAnyway) return undefined;
  const typedAt = seen.deskActivity * 1_000;
  const active = typedAt > 0 && options.now - typedAt < DESK_ACTIVE_MS;
  return active || seen.reading.draft ? "desk_busy" : undefined;
}

function isStarting({ reading, created }: Observation, { now, recorded }: HoldOptions): boolean {
  const showsNothing = reading.state === undefined && reading.draft === undefined &&
    reading.focus !== "dialog";
  return recorded && showsNothing && now - created * 1_000 < START_HOLD_MS;
}

/** Waits while the agent starts, a dialog is open or someone types; reports each new reason once. */
export async function untilClear(attempt: Attempt, first: Seen): Promise<Clear> {
  const { command, host } = attempt;
  const recorded = attempt.target.recordedPid !== 0;
  let told: HoldReason | undefined;
  let deskSince: number | undefined;
  for (let seen = first;;) {
    const now = host.now();
    if (now >= command.expiresAt) return { outcome: { state: "expired" } };
    const reason = holdReason(seen, { now, recorded, ...command, ...host.policy });
    if (reason === undefined) return { seen };
    deskSince = reason === "desk_busy" ? deskSince ?? now : undefined;
    if (deskSince !== undefined && now - deskSince >= DESK_HOLD_MS) return { outcome: refused("desk_busy") };
    if (told !== reason) host.report(command.id, { state: "held", reason });
    told = reason;
    await host.pause(HOLD_STEP_MS);
    const again = await look(attempt);
    if ("outcome" in again) return again;
    seen = again.seen;
  }
}
