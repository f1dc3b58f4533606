/** The pause between text and Enter that the agent needs, ended early once its screen is quiet. */
import type { Attempt } from "./inject_host.ts";
import { type Observation, observe } from "./observe.ts";

/** How often the screen is compared while it settles. */
export const SETTLE_STEP_MS = 25;

/** `untouched` is the pane before the text: a screen that still looks so has not shown it yet. */
export async function settle({ target, server, host }: Attempt, untouched: Observation): Promise<void> {
  const { settleMs, settleAtLeastMs = 0 } = target.profile.typing;
  const start = host.now();
  let last: string | undefined = untouched.screen.lines.join("\n");
  const before = last;
  for (let elapsed = 0; elapsed < settleMs; elapsed = host.now() - start) {
    await host.pause(Math.min(SETTLE_STEP_MS, settleMs - elapsed));
    const screen = (await observe(server, target)).screen.lines.join("\n");
    if (screen === last && screen !== before && host.now() - start >= settleAtLeastMs) return;
    last = screen;
  }
}
