/** Whether the dialog behind an open card still waits: what the session shows at the computer says so. */
import { type Clock, delay } from "../../async/clock.ts";
import { errorText } from "../../async/error_text.ts";
import type { LocalView } from "../inject/pane_check.ts";
import type { Card } from "./card.ts";

/** How often an open card checks whether its dialog was answered at the computer, or the local user is back. */
const WATCH_POLL_MS = 500;
/** A dialog is gone when this many looks in a row do not see it, so many milliseconds apart. */
const GONE_LOOKS = 3;
const GONE_STEP_MS = 100;
/** A connection to the relay that is lost for longer than this ends the wait for a phone. */
const LINK_LOST_MS = 5_000;
/** A session whose screen cannot be read for longer than this is asked at the computer. */
export const UNREADABLE_MS = 10_000;

/** The parts of `CardsOptions` that a watch reads. */
export interface WatchOptions {
  clock: Clock;
  /** What the session shows at the computer now; undefined for an unknown session. Throws TmuxError. */
  look(session: string): Promise<LocalView | undefined>;
  isLinked(): boolean;
  log(line: string): void;
}

/**
 * Ends the wait when a dialog that the screen has shown is gone from it; of one that its hook holds back, at the first
 * key at the computer, and when the relay, or the screen, is away for longer than a moment. Never throws.
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
 * Gone: the session is, or it has had a key while its hook held the dialog back; or the screen no longer shows the dialog,
 * or the agent at work, after it had shown that. One look may see a half-drawn screen, or fail on a busy machine.
 */
export async function lookFor(
  card: Card,
  { look, log, clock, signal }: WatchOptions & { signal: AbortSignal },
): Promise<"open" | "gone" | "unreadable"> {
  for (let looks = 1;; looks++) {
    let view: LocalView | undefined;
    try {
      view = await look(card.session);
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
