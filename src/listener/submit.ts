/** Enter, after the text: settled, guarded once more, and proved. From here on the outcome is never `refused`. */
import { TmuxError } from "../tmux/server.ts";
import { HOLD_STEP_MS, look, type Seen } from "./hold.ts";
import { failureOutcome } from "./inject_failure.ts";
import type { Attempt, WrittenMarker } from "./inject_host.ts";
import { type Outcome, Stopping } from "./outcome.ts";
import { pressEnter } from "./press_enter.ts";
import { prove, type Sent } from "./prove.ts";
import { settle } from "./settle.ts";

export async function submit(
  attempt: Attempt,
  typed: { marker: WrittenMarker; untouched: Seen },
): Promise<Outcome> {
  let { marker } = typed;
  try {
    await settle(attempt, typed.untouched);
    for (;;) {
      const now = await look(attempt);
      if ("outcome" in now) return await abandon(marker, now.outcome);
      const sent = !mustWait(attempt, now.seen) && await pressEnter(attempt, now.seen);
      if (sent) return await proved(attempt, { ...typed, marker, before: now.seen });
      await marker.withdraw();
      const clear = await untilDialogGone(attempt);
      if ("outcome" in clear) return clear.outcome;
      marker = await attempt.host.writeMarker(clear.seen.directory, attempt.command.body);
    }
  } catch (error) {
    if (error instanceof TmuxError) return await abandon(marker, failureOutcome(error));
    if (error instanceof Stopping) return await abandon(marker, { state: "typed", reason: "dialog_open" });
    throw error;
  }
}

async function proved(attempt: Attempt, sent: Sent): Promise<Outcome> {
  const outcome = await prove(attempt, sent);
  if (attempt.target.profile.takesNoMarkers) await sent.marker.withdraw();
  return outcome;
}

/** The text was typed and Enter was not sent: `typed`, with what stood in the way. */
async function abandon(marker: WrittenMarker, why: Outcome): Promise<Outcome> {
  await marker.withdraw();
  return { state: "typed", ...(why.reason === undefined ? {} : { reason: why.reason }) };
}

function mustWait({ host }: Attempt, seen: Seen): boolean {
  return seen.reading.focus === "dialog" && !host.policy.allowRemoteApproval;
}

/** How long an agent may take to draw its input line again after a dialog. */
export const REDRAW_MS = 1_000;

/**
 * Waits for the dialog to go. When the input line does not show the text any more, or cannot be read, the dialog or a
 * person took it: Enter is not sent.
 */
async function untilDialogGone(attempt: Attempt): Promise<{ seen: Seen } | { outcome: Outcome }> {
  const { host, command } = attempt;
  const blocked: Outcome = { state: "typed", reason: "dialog_open" };
  host.report(command.id, { state: "held", reason: "dialog_open" });
  for (let goneAt: number | undefined;;) {
    await host.pause(HOLD_STEP_MS);
    const now = await look(attempt);
    if ("outcome" in now) return { outcome: { ...blocked, ...now.outcome, state: "typed" } };
    if (host.now() >= command.expiresAt) return { outcome: blocked };
    if (mustWait(attempt, now.seen)) {
      goneAt = undefined;
      continue;
    }
    if (now.seen.reading.draft) return now;
    goneAt ??= host.now();
    if (host.now() - goneAt >= REDRAW_MS) return { outcome: blocked };
  }
}
