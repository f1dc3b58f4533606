/** Requirements on the hooks: tool calls that wait for input in flight, and what a folded paste means. */
import { agents, rows } from "./row.ts";

const GATE = rows("product, Injection", {
  "gate-waits": agents(
    "A tool call waits until no input is on its way into the agent's pane: 5 seconds at most, and not at all without a listener.",
  ),
  "gate-after": agents("The end of a tool call is reported, and nothing waits for it."),
  "gate-registered": agents(
    "svc setup registers the hooks that come before an agent's dialogs; reports say whether they are registered.",
  ),
});

export const HOOK_ROWS = [...GATE];
