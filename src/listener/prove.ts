/** The proof that the agent took the message: its hook took the marker, or its screen shows it. */
import type { ScreenReading } from "../agents/profile.ts";
import { TmuxError } from "../tmux/server.ts";
import { look, type Seen } from "./hold.ts";
import type { Attempt, WrittenMarker } from "./inject_host.ts";
import { type Outcome, Stopping } from "./outcome.ts";
import { pressEnter } from "./press_enter.ts";

/** How long the proof is awaited before the receipt says `typed`. */
export const PROOF_LIMIT_MS = 3_000;
/** The same where the input line cannot be read, so that only a hook could prove it. */
export const HOOK_PROOF_LIMIT_MS = 1_000;
/** Text still in the input line after this time: Enter was lost, and is pressed once more. */
export const ENTER_AGAIN_MS = 800;
const PROOF_STEP_MS = 20;

/** What two looks at the screen, before and after Enter, tell. */
export function screenProves(before: ScreenReading, after: ScreenReading): boolean {
  if (after.dialog) return false;
  if (before.draft && after.draft === "") return true;
  return before.state !== "working" && before.state !== undefined && after.state === "working";
}

/** The text is still in the input line and nothing else is going on. */
export function enterWasLost(before: ScreenReading, after: ScreenReading): boolean {
  return !after.dialog && Boolean(before.draft) && after.draft === before.draft && after.state !== "working";
}

interface Sent {
  marker: WrittenMarker;
  /** The last look before Enter. */
  before: Seen;
}

/** Enter was sent: `submitted` when that can be shown, else `typed`. */
export async function prove(attempt: Attempt, sent: Sent): Promise<Outcome> {
  try {
    if (await watch(attempt, sent)) return { state: "submitted" };
  } catch (error) {
    if (!(error instanceof TmuxError) && !(error instanceof Stopping)) throw error;
  }
  return { state: await sent.marker.taken() ? "submitted" : "typed" };
}

async function watch(attempt: Attempt, { marker, before }: Sent): Promise<boolean> {
  const { host } = attempt;
  const start = host.now();
  const limit = before.reading.draft === undefined ? HOOK_PROOF_LIMIT_MS : PROOF_LIMIT_MS;
  host.report(attempt.command.id, { state: "typed" });
  for (let again = false; host.now() - start < limit; await host.pause(PROOF_STEP_MS)) {
    if (await marker.taken()) return true;
    const now = await look(attempt);
    if ("outcome" in now) return false;
    if (screenProves(before.reading, now.seen.reading)) return true;
    const late = host.now() - start >= ENTER_AGAIN_MS;
    if (late && !again && enterWasLost(before.reading, now.seen.reading)) {
      again = true;
      await pressEnter(attempt, now.seen);
    }
  }
  return false;
}
