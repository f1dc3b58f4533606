/** Tool calls that wait for input in flight, folded pastes, and states reported by hooks. */
import { agents, type Requirement, rows } from "./row.ts";

const TOOL_CALL_HOOKS = rows("docs/specification.md, Tool-call hooks", {
  "gate-waits": agents(
    "A tool call waits until no input is on its way into the agent's pane: for at most 5 seconds, and not at all without a listener.",
  ),
  "gate-after": agents("The end of a tool call is reported, and nothing waits for it."),
  "gate-registered": agents(
    "svc setup registers the hooks that run before an agent's dialogs; reports say whether they are registered.",
  ),
});

const CARDS = rows("docs/specification.md, Cards", {
  "card-sealed": agents("A card goes only to paired phones, sealed; a relay accepts none that is plain."),
  "card-fits": agents("An answer that does not fit its card, or is about another request, is refused."),
  "card-setting": agents(
    "allowRemoteApproval decides which decisions a card offers; by default there is no card for a request.",
  ),
  "card-never": agents(
    "Destructive requests, and those of the host's neverAllow, are never allowed from a phone.",
  ),
  "card-whole": agents(
    "A request is shown in full, with invisible characters named; one too long for that can only be refused.",
  ),
  "card-fetched": agents(
    "A request longer than its push is fetched from the host, checked against its digest, and allowed only by a phone that has all of it.",
  ),
  "card-bound": agents("A decision names the digest of the tool, the directory and the whole request."),
  "card-phones": agents(
    "Only a paired phone answers a card, sealed with its pairing's secret; a script never does.",
  ),
  "card-reopened": agents(
    "An answer that no paired phone has sealed closes no card: the relay accepts none, and the host asks again.",
  ),
  "card-first": agents("The first answer counts, from a phone or from the computer; later ones are refused."),
  "card-local": agents(
    "A dialog that its hook holds back opens at once while a user is at the computer or the relay is unreachable, and at the first key.",
  ),
  "card-applied": agents(
    "The receipt of an answer follows what the agent's hook reports or its screen shows: an agent at work without the dialog. It is unknown when neither does, as when the agent hangs.",
  ),
  "card-rings": agents("A dialog with a card rings a phone once."),
  "card-race": agents(
    "Whatever happens to a request while a phone answers it, no other request gets the answer, and the receipt is true.",
  ),
  "card-late": agents(
    "An answer to an agent's own dialog goes to the listener that asked, and is never typed.",
  ),
  "card-shown": agents(
    "A card shows in its session and in the inbox, each option with its description; it is closed, and never late, when the agent no longer waits.",
  ),
  "card-read": agents(
    "The phone shows the whole request, with what is unusual about it, and allows it only once it was read to its end.",
  ),
  "card-order": agents(
    "Right-to-left letters on a card do not reorder the text around them.",
  ),
  "card-still": agents(
    "A button of a card does nothing for 700 ms after it appeared or moved.",
  ),
  "card-outcome": agents(
    "The receipt of an answer, as the host proves it, says whether the agent has received it, or that it came too late.",
  ),
  "card-once": agents("While a card is open the older card of its dialog is not shown."),
  "card-notified": agents(
    "The first two options of a question come with its notification; tapping one opens the card with that option chosen. A request for permission has none.",
  ),
});

const AGENT_DIALOGS = rows("docs/agents.md, Dialogs on the phone", {
  "card-questions": agents(
    "The agents' own questions are answered through their hooks, with options, several choices and free text; an input of an unknown form is left to the computer.",
  ),
  "card-approvals": agents(
    "A request for permission carries every field of the tool's input, whole; each decision is one that the agent's hook can carry out.",
  ),
  "card-registered": agents(
    "svc setup registers the hooks that come with a dialog with a limit longer than the wait for a phone; svc verify reports an older registration.",
  ),
  "card-hook-ends": agents("A hook that waits for a phone ends when its agent ends it."),
});

const REMOTE_MODE = rows("docs/specification.md, REMOTE mode", {
  "rm-folded": agents(
    "A prompt that the agent folded as a paste matches its marker as the text that was typed.",
  ),
  "rm-invisible": agents(
    "Invisible characters that an agent removes do not separate a prompt from its marker; visibly different texts never match.",
  ),
});

const AGENT_STATES = rows("docs/specification.md, Agent states", {
  "ls-state-moved": agents(
    "A state reported by a hook ends when the screen has changed since, or after 1.5 seconds.",
  ),
  "ls-state-ask": agents("A session is waiting while a question of svc_ask waits for the user."),
  "ls-state-foreign": agents(
    "A report from another pane, another project, or an agent that the session's agent runs as a tool does not change a session's state.",
  ),
  "ls-state-pace": agents(
    "While something happens in a session, the inventory is read at least every second.",
  ),
  "ls-state-since": agents(
    "The start of a session's state survives a restart of the listener; otherwise tmux's times are used.",
  ),
  "ls-state-watched": agents("A state does not depend on whether a phone watches the session's mirror."),
  "ls-state-last-second": agents("Output in the second of a reading is read again."),
});

export const HOOK_ROWS: readonly Requirement[] = [
  ...TOOL_CALL_HOOKS,
  ...CARDS,
  ...AGENT_DIALOGS,
  ...REMOTE_MODE,
  ...AGENT_STATES,
];
