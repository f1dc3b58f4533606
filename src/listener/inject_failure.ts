/** What a tmux failure means for a message. */
import type { TmuxError } from "../tmux/server.ts";
import { type Outcome, refused } from "./outcome.ts";

/** What a tmux failure before the typing means: the pane went away, or tmux is broken. Nothing was typed. */
export function failureOutcome(error: TmuxError): Outcome {
  const gone = /can't find|no server running|no such/i.test(error.message);
  return refused(gone ? "pane_dead" : "tmux_failed");
}
