/** What product.md asks of an injection, step by step, and what the first capability must show of it. */
import { main, mirror, type Requirement, rows } from "./row.ts";

const STEPS = rows("product, injection", {
  "inj-exact": main("The target is matched exactly, then held by the id of the recorded agent's pane."),
  "inj-split": main("A split window or a second window changes nothing of where the text goes."),
  "inj-dead": main("A dead pane, one with input off, or one with a stopped process is refused as pane_dead."),
  "inj-guard-more": main(
    "The guard also knows nu, elvish, xonsh, ash, mksh, tmux, screen, ssh, sudo, su and login.",
  ),
  "inj-guard-tree": main("A pane whose process tree lacks the recorded agent is refused."),
  "inj-guard-atomic": main(
    "Guard and typing are one command sequence of tmux: an agent that exits between them gives no shell.",
  ),
  "inj-no-paste-dead": main("paste-buffer is never run on a dead pane."),
  "inj-dialog": main(
    "While the agent shows a dialog nothing is typed: the push is held, and goes in when the dialog is gone.",
  ),
  "inj-dialog-expires": main("A push held until its time is over expires with nothing typed."),
  "inj-dialog-again": main(
    "The dialog is looked for again just before Enter, and Enter is not sent into it.",
  ),
  "inj-dialog-keys": mirror("Keys are held at a dialog like messages."),
  "inj-dialog-allowed": main(
    "allowRemoteApproval: true in the host's configuration lets input reach a dialog.",
  ),
  "inj-pessimistic": main("Of screen, title and hook the most pessimistic reading of a dialog wins."),
  "inj-shell-escape": main(
    "A body whose first visible character is ! is refused as shell_escape unless the host allows it.",
  ),
  "inj-desk": main(
    "While someone types at the desk the push is held up to 10 seconds, then refused as desk_busy.",
  ),
  "inj-desk-anyway": main("A push refused as desk_busy can be sent anyway."),
  "inj-desk-draft": main(
    "A draft in the agent's input line counts as a busy desk where the profile can read it.",
  ),
  "inj-marker-before": main("The marker is written before Enter."),
  "inj-marker-back": main("The marker is taken back when Enter is not sent."),
  "inj-marker-join": main("Messages that an agent joins with a blank line match too and take both markers."),
  "inj-profile": main("Each agent's profile decides on marks, settle time and the reading of its screen."),
  "inj-pieces": main("Text is typed in pieces under 16,000 bytes, never cutting a character."),
  "inj-semicolon": main("A trailing ; arrives as text."),
  "inj-copy-mode": main("Copy mode is left before typing."),
  "inj-slash": main("Slash commands are typed plain."),
  "inj-trailing-space": main(
    "A text gets one space after it where Enter would take a suggestion or begin a line, and the agent drops it.",
  ),
  "inj-plain-pane": main("A pane that no wrapper made is typed to plain."),
  "inj-settle": main(
    "Enter follows once the composer shows the text, and after the profile's settle time of 0 to 300 ms.",
  ),
  "inj-proof": main(
    "The receipt says submitted when the hook or the screen shows it; unknown, or typed without a profile, when neither does.",
  ),
  "inj-composer-only": main(
    "Text goes into a recorded agent only while its composer is recognised: any other screen is unknown_screen.",
  ),
  "inj-composer-shows": main(
    "Enter follows only a screen that shows in the composer what svc put there.",
  ),
  "inj-take-back": main(
    "A text that svc typed and cannot submit is submitted later or removed again, with a reason of its own.",
  ),
  "inj-turn": main(
    "Without hooks that hold dialogs back, a message waits for the end of the turn as agent_working, unless the host steers.",
  ),
  "inj-tall": main("A text with more rows than the agent's input line shows is submitted too."),
  "inj-gate": main(
    "An input and a tool call's hook exclude each other: the hook waits for Enter, and no input begins until the dialog's end.",
  ),
  "inj-approval-command": main(
    "A slash command that is not known to leave approvals alone is refused as approval_change.",
  ),
  "inj-key-allowlist": main(
    "Live keys go in by a list for each agent: none opens an editor, suspends the agent or changes its approvals.",
  ),
  "inj-unknown-keys": main(
    "In a screen that is neither composer nor a harmless menu only Esc and the arrows go in.",
  ),
  "inj-fresh-screen": main(
    "A key that submits follows only a screen that is newer than the last key, else it is screen_stale.",
  ),
  "inj-after-escape": main("Nothing follows Escape before the agent has taken it for a key of its own."),
  "inj-one-at-a-time": main("Messages and keys of one pane go in one after the other."),
  "inj-enter-twice": main(
    "Enter is sent once more at most, and only when the text still stands in the input line without a dialog.",
  ),
  "inj-never-retype": main("Text is never typed twice."),
  "inj-journal": main(
    "The journal is append-only, synced and compacted, and makes an injection happen at most once.",
  ),
  "inj-unknown": main(
    "After a crash between typing and recording the receipt is unknown and nothing is typed again.",
  ),
  "inj-rate-wait": main("Beyond the limit the push is refused as rate_limited with the wait in seconds."),
  "inj-rate-resend": main("The phone offers to send a refused message again."),
  "inj-turns": main("One slow session delays no other."),
  "inj-order": main("Within a session the order is the order of acceptance."),
  "inj-muted": main("A message to a session of a muted project is refused as muted."),
  "inj-one-function": main("The steps stand in one file, read from top to bottom in this order."),
});

const SHOWN = rows("the main job, must show", {
  "show-demo": main(
    "The demo runs the path by itself with a scripted phone, prints steps with milliseconds, cleans up, exits 0.",
  ),
  "show-demo-fails": main("The demo exits 1 when a step is broken."),
  "show-bytes": main(
    "Naughty bodies arrive byte for byte at the echo agent: flags, quotes, 16,384 bytes, 200 lines, emoji, CJK, RTL, tabs.",
  ),
  "show-controls": main("Bodies with ESC, NUL, BEL or DEL are refused and type nothing."),
  "show-prefix": main(
    "A body for svc-foo while only svc-foo-2 exists types nothing and says no_such_session.",
  ),
  "show-shell": main(
    "Nothing reaches a shell after the agent's exit: in its pane, a login shell, one started by the agent.",
  ),
  "show-race": main(
    "An agent that exits between guard and typing gets nothing into a shell, 200 times of 200.",
  ),
  "show-kill-listener": main(
    "kill -9 of the listener at each step of an injection loses and doubles nothing.",
  ),
  "show-kill-relay": main("kill -9 of the relay at each step of an injection loses and doubles nothing."),
  "show-real-agent": main("A real agent in its real screen takes 20 of 20 messages exactly."),
  "show-echo": main(
    "The echo agent has an input line, a working state, a permission prompt on request, and prints what it got.",
  ),
});

export const INJECTION_ROWS: readonly Requirement[] = [...STEPS, ...SHOWN];
