/** Requirements on the hooks: tool calls that wait for input in flight, and what a folded paste means. */
import { agents, rows } from "./row.ts";

const GATE = rows("product, injection", {
  "gate-waits": agents(
    "A tool call waits until no input is on its way into the agent's pane: 5 seconds at most, and not at all without a listener.",
  ),
  "gate-after": agents("The end of a tool call is reported, and nothing waits for it."),
  "gate-registered": agents(
    "svc setup registers the hooks that come before an agent's dialogs; reports say whether they are registered.",
  ),
});

const FOLDED = rows("product, REMOTE mode", {
  "rm-folded": agents(
    "A prompt that the agent folded as a paste matches its marker as the text that was typed.",
  ),
  "rm-invisible": agents(
    "Invisible characters that an agent removes do not part a prompt from its marker; visibly different texts never match.",
  ),
});

const STATES = rows("product, listener", {
  "ls-state-moved": agents("A hook's state ends when the screen has moved on since, or after 1.5 seconds."),
  "ls-state-ask": agents("A session waits while a question of svc_ask waits for the person."),
  "ls-state-foreign": agents(
    "A report from another pane or another project does not change a session's state.",
  ),
  "ls-state-pace": agents(
    "While something happens in a session the inventory is read every second or sooner.",
  ),
  "ls-state-watched": agents("A session's state is the same whether a phone watches its mirror or not."),
  "ls-state-last-second": agents("What is drawn in the second of a reading is read again."),
});

export const HOOK_ROWS = [...GATE, ...FOLDED, ...STATES];
