/** Types a phone's keystroke into the pane of a mirror, by the rules of the agent that runs there now. */
import { type Clock, delay } from "../../async/clock.ts";
import { paneContext, type TypingContext } from "../inject/context.ts";
import type { Keystroke } from "../keystrokes/keystroke_rules.ts";
import { type KeystrokeOutcome, typeKeystroke } from "../keystrokes/type_keystroke.ts";
import type { Target, Targets } from "../targets.ts";

interface WatchedPane {
  target: Target;
  targets: Pick<Targets, "current">;
  typing: TypingContext;
  clock: Clock;
}

/** Returns the target as well: another agent may have been started in the pane since it was found. */
export async function typeInto(
  { target, targets, typing, clock }: WatchedPane,
  input: Keystroke,
): Promise<{ outcome: KeystrokeOutcome; target: Target }> {
  const pause = (ms: number): Promise<void> => delay(ms, { clock });
  const type = (into: Target) => typeKeystroke({ ...paneContext(typing, into), pause }, input);
  const outcome = await type(target);
  if (outcome.state !== "refused" || outcome.reason !== "unknown_screen") return { outcome, target };
  const now = await targets.current(target);
  return { outcome: now.profile === target.profile ? outcome : await type(now), target: now };
}
