/** An injection, step by step, and the demonstrations of the whole path. */
import { main, mirror, phone, type Requirement, rows } from "./row.ts";

const TARGET_AND_GUARD = rows("docs/specification.md, Target and guard", {
  "inj-exact": main("The target is matched exactly, then addressed by the pane id of the recorded agent."),
  "inj-split": main("A split window or a second window does not change where the text goes."),
  "inj-dead": main("A dead pane, one with input off, or one with a stopped process is refused as pane_dead."),
  "inj-guard-more": main(
    "The guard also refuses nu, elvish, xonsh, ash, mksh, tmux, screen, ssh, sudo, su and login.",
  ),
  "inj-guard-tree": main("A pane whose process tree does not contain the recorded agent is refused."),
  "inj-guard-atomic": main(
    "Guard and typing are one tmux command sequence: an agent that exits in between exposes no shell.",
  ),
  "inj-no-paste-dead": main("paste-buffer is never run on a dead pane."),
});

const SCREEN_CHECKS = rows("docs/specification.md, Screen checks", {
  "inj-dialog": main(
    "While the agent shows a dialog nothing is typed: the push is held, and typed when the dialog is gone.",
  ),
  "inj-dialog-expires": main("A push that is held until its time is over expires with nothing typed."),
  "inj-dialog-again": main("The dialog is checked again just before Enter, and Enter is not sent into one."),
  "inj-dialog-allowed": main("allowRemoteApproval in the host's configuration lets input reach a dialog."),
  "inj-pessimistic": main(
    "Screen, title and hooks may each report a dialog; the most cautious of them wins.",
  ),
  "inj-shell-escape": main(
    "A body whose first visible character is ! is refused as shell_escape unless the host allows it.",
  ),
  "inj-local-user": main(
    "While the local user is typing the push is held for up to 10 seconds, then refused as desk_busy.",
  ),
  "inj-send-anyway": main(
    "A push refused as desk_busy can be sent anyway, except after a draft that begins with ! or /.",
  ),
  "inj-phone-draft": phone("A draft that a phone's live keys left is phone_draft, not desk_busy."),
  "inj-hidden": main(
    "What a folded paste hides, and what a harmless command does with its arguments, is judged like any other text.",
  ),
  "inj-draft": main(
    "A draft in the composer holds the push like typing, where the profile can read it.",
  ),
  "inj-composer-only": main(
    "Text is typed into a recorded agent only while its composer is recognized; any other screen is unknown_screen.",
  ),
  "inj-turn": main(
    "Without hooks that hold dialogs back, a message waits for the end of the turn as agent_working, unless the host sets steer.",
  ),
  "inj-gate": main(
    "An injection and a tool call exclude each other: the hook waits until Enter was read, and no injection begins until the dialog has ended.",
  ),
  "inj-approval-command": main(
    "A slash command that is not known to leave approvals alone is refused as approval_change.",
  ),
  "inj-muted": main("A message to a session of a muted project is refused as muted."),
});

const KEYS = rows("docs/specification.md, Keys", {
  "inj-dialog-keys": mirror(
    "Keys are held at a dialog like messages, and are refused if someone has typed at the computer since.",
  ),
  "inj-keys-late": mirror(
    "A key that waits is not typed once its phone has disconnected, nor after 10 seconds in which no key before it was typed.",
  ),
  "inj-key-allowlist": main(
    "Live keys are typed by an allowlist for each agent: none opens an editor, suspends the agent or changes its approvals.",
  ),
  "inj-unknown-keys": main(
    "On a screen that is neither composer nor a harmless menu only Esc and the arrows are typed.",
  ),
  "inj-fresh-screen": main(
    "A key that submits waits for a screen that is newer than the last key and shows the last text, else it is screen_stale.",
  ),
  "inj-command-cursor": main(
    "Enter runs no slash command while the cursor is in its name, or in a path before other text.",
  ),
  "inj-key-view": main(
    "After a key that may open another view nothing is typed until a screen shows its effect.",
  ),
  "inj-after-escape": main("Nothing follows Escape until the agent has read it as a separate key."),
  "inj-one-at-a-time": main("Messages and keys of one pane are typed one after the other."),
});

const INJECTION = rows("docs/specification.md, Injection", {
  "inj-marker-before": main("The marker is written before Enter."),
  "inj-marker-back": main("The marker is withdrawn when Enter is not sent."),
});

const REMOTE_MODE = rows("docs/specification.md, REMOTE mode", {
  "inj-marker-join": main(
    "Messages that an agent joins with a blank line match too and use up both markers.",
  ),
});

const TYPING_AND_SUBMITTING = rows("docs/specification.md, Typing and submitting", {
  "inj-profile": main(
    "The agent's profile decides on paste marks, settle time and the reading of its screen.",
  ),
  "inj-pieces": main("Text is typed in pieces under 16,000 bytes that never split a character."),
  "inj-semicolon": main("A trailing ; arrives as text."),
  "inj-copy-mode": main("Copy mode is left before typing."),
  "inj-user-hooks": main(
    "The user's tmux hooks, failing or printing, change neither what is typed nor the receipt; a pane in no mode runs no copy-mode hook.",
  ),
  "inj-slash": main("Slash commands are typed plainly."),
  "inj-trailing-space": main(
    "Where Enter would accept a suggestion or begin a line, one space follows the text, which the agent drops.",
  ),
  "inj-plain-pane": main(
    "Text is typed plainly into a pane that no wrapper created and in which no known agent runs.",
  ),
  "inj-settle": main(
    "Enter follows once the composer shows the text and the profile's settle time of 0 to 300 ms has passed.",
  ),
  "inj-proof": main(
    "The receipt is submitted when the hook or the screen shows it; else unknown, or typed in a session without a profile.",
  ),
  "inj-composer-shows": main("Enter follows only a screen that shows in the composer what svc typed."),
  "inj-take-back": main(
    "A text that svc typed and cannot submit is submitted later or removed again, with a separate reason.",
  ),
  "inj-tall": main("A text with more rows than the composer shows is submitted too."),
  "inj-enter-twice": main(
    "Enter is sent at most once more, and only when the text is still in the composer without a dialog.",
  ),
  "inj-never-retype": main("Text is never typed twice."),
});

const AT_MOST_ONCE_AND_IN_ORDER = rows("docs/specification.md, At most once and in order", {
  "inj-journal": main(
    "The journal is append-only, synced and compacted, and makes an injection happen at most once.",
  ),
  "inj-unknown": main(
    "After a crash between typing and recording the receipt is unknown and nothing is typed again.",
  ),
  "inj-lost": main(
    "When the connection to tmux breaks while a text or Enter is sent, the pane shows the outcome; for a key it is unknown.",
  ),
  "inj-stop": main(
    "A listener that stops finishes a message that it has typed, or leaves it to the next one, which submits it once.",
  ),
  "inj-full-disk": main(
    "While the host's files cannot be written nothing new is typed, and messages are held as host_files.",
  ),
  "inj-rate-wait": main("Beyond the limit a push is refused as rate_limited with the wait in seconds."),
  "inj-rate-resend": main("The phone offers to send a refused message again."),
  "inj-turns": main("One slow session delays no other."),
  "inj-early": main(
    "A pane may be checked while the relay stores the message and the journal records it. It is checked again after another input, for another pane, or if the relay took over 20 ms or the journal over 200.",
  ),
  "inj-client-held": main(
    "A control client stays attached to each tmux server with agents, so that no message waits for one to attach.",
  ),
  "inj-socket-replaced": main(
    "Once another tmux server has a socket's path, messages and keys go to its agents, and older mirrors end.",
  ),
  "inj-order": main("Within a session the order is the order of acceptance."),
});

const DATA_FLOWS = rows("ARCHITECTURE.md, Data flows", {
  "inj-one-function": main(
    "The steps of an injection are in one file and read from top to bottom in this order.",
  ),
});

const END_TO_END_DEMONSTRATIONS = rows("docs/specification.md, End-to-end demonstrations", {
  "show-demo": main(
    "The demo runs the whole path with a scripted phone, prints each step with its milliseconds, cleans up and exits 0.",
  ),
  "show-demo-fails": main("The demo exits 1 when a step fails."),
  "show-bytes": main(
    "Difficult bodies arrive byte for byte at the echo agent: flags, quotes, 16,384 bytes, 200 lines, emoji, CJK, RTL, tabs.",
  ),
  "show-controls": main("Bodies with ESC, NUL, BEL or DEL are refused and type nothing."),
  "show-prefix": main(
    "A message for svc-foo while only svc-foo-2 exists types nothing and is refused as no_such_session.",
  ),
  "show-shell": main(
    "Nothing reaches a shell after the agent's exit: not in its pane, not a login shell, not one started by the agent.",
  ),
  "show-race": main(
    "An agent that exits between guard and typing gets nothing into a shell, 200 times out of 200.",
  ),
  "show-kill-listener": main(
    "kill -9 of the listener at each step of an injection loses nothing and doubles nothing.",
  ),
  "show-kill-relay": main(
    "kill -9 of the relay at each step of an injection loses nothing and doubles nothing.",
  ),
  "show-real-agent": main("A real agent on its real screen takes 20 of 20 messages exactly."),
  "show-echo": main(
    "The echo agent has a composer, a working state, a permission prompt on request, and prints what it received.",
  ),
});

export const INJECTION_ROWS: readonly Requirement[] = [
  ...TARGET_AND_GUARD,
  ...SCREEN_CHECKS,
  ...KEYS,
  ...INJECTION,
  ...REMOTE_MODE,
  ...TYPING_AND_SUBMITTING,
  ...AT_MOST_ONCE_AND_IN_ORDER,
  ...DATA_FLOWS,
  ...END_TO_END_DEMONSTRATIONS,
];
