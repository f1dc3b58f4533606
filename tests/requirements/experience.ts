/** The phone and the terminal as their user sees them. */
import { agents, main, mirror, phone, type Requirement, rows } from "./row.ts";

const PHONE_VIEWS = rows("docs/specification.md, Phone views", {
  "ux-pair": mirror("Pairing is a scan and the same six words on both screens."),
  "ux-scan": phone(
    "The app reads a pairing link by camera or from a text field, and accepts only one of its own relay.",
  ),
  "ux-link-kept": phone(
    "A reload, another address or a lost network in the middle of signing in by a link does not lose the link; it is kept encrypted, until it was used and for ten minutes at most.",
  ),
  "ux-ended": phone(
    "The view of a session that has ended says so, and when; its messages, its last screen and a draft stay; if no screen was kept, it explains why and how to continue.",
  ),
  "ux-cards": phone(
    "Every session is a card with label, state, host, last line and lock; waiting ones come first.",
  ),
  "ux-offline": phone("Offline hosts are greyed, with when they were last seen."),
  "ux-live": main("The picker is live and never has to be pulled."),
  "ux-session": phone("A session shows status line, mirror, key row and text field."),
  "ux-two-ways": phone("One switch chooses between message and live typing."),
  "ux-receipt": main(
    "A message's bubble shows its receipt: the state, and the reason as a sentence with what to do.",
  ),
  "ux-no-dead-end": phone(
    "A message can be cancelled, edited, sent again or sent anyway where its receipt shows; one whose outcome is unknown never becomes a draft; drafts survive a reload.",
  ),
  "ux-both-sides": phone(
    "A session holds its open questions, answerable in place, its dialog, and the texts of ended turns and notes among the user's messages.",
  ),
  "ux-markdown": phone(
    "Agents' texts show a strict subset of Markdown; HTML stays text, and only http and https become links.",
  ),
  "ux-waiting": phone("A session with an open question or dialog is among those that wait."),
  "ux-unread": phone(
    "Unread items are counted on the card, the inbox, the app's badge and in the title.",
  ),
  "dlg-card": phone(
    "An open dialog is one card in its session and in the inbox, with the time at which its wait began, what may be done from the phone, and the setting; it disappears with the dialog.",
  ),
  "dlg-text": phone("The card has the dialog's text, read from the screen."),
  "dlg-reject": phone(
    "A phone rejects or interrupts only the very dialog it has seen, and only where allowRemoteApproval allows it.",
  ),
  "ux-search": phone(
    "From eight sessions on the list is searched by name, project, agent and host, whatever the case and diacritics.",
  ),
  "ux-by-host": phone("With several hosts the list is grouped by state or by host; the choice is kept."),
  "ux-remove-host": phone(
    "An offline host and its sessions can be removed from this phone's list until it is back online.",
  ),
  "ux-item-host": phone("With several hosts an item of the inbox names its host."),
  "ux-start": phone(
    "An agent is started from the list in a known project, and its session opens; else the reason or the setting is named.",
  ),
  "ux-end": phone(
    "An agent is ended from its session after a confirmation, where the host allows it, and the answer is shown.",
  ),
  "ux-later": phone("A message for later is stored, listed, can be cancelled, and is typed once."),
  "ux-commands": phone(
    "A draft that begins with / shows the agent's slash commands that a host takes from phones; choosing one only fills the draft.",
  ),
  "ux-snippets": phone(
    "Own snippets are kept on the phone: saved, put into the draft at the cursor, renamed and deleted.",
  ),
  "ux-sent-before": phone(
    "Earlier messages to the session are found and put into the draft, without being sent.",
  ),
  "up-path": phone("The path of a file from the phone is put into the draft and not submitted."),
  "up-phone": phone(
    "A file is sent in order and within the relay's budgets; progress, cancelling and every failure are shown.",
  ),
  "ux-latches": phone(
    "Ctrl and Alt of the key row are held for the next key or until they are released, visibly; a key that the host refuses or that does not exist is explained.",
  ),
  "ux-paste": phone(
    "Paste types what is on the clipboard into the terminal and presses no key, or says why it cannot.",
  ),
  "ux-shortcuts": phone(
    "A hardware keyboard sends, searches, goes back and lists its shortcuts; none takes a key from the live terminal, and single keys can be switched off.",
  ),
  "ux-mirror-touch": phone("The mirror zooms, pans, scrolls back and lets text be selected and copied."),
  "ux-tmux-stays": mirror("No mirror takes the tmux server down, not even one whose listener is stalled."),
  "ux-no-resize": mirror("The mirror resizes the window only when asked, and undoes it on leaving."),
  "ux-inbox": phone(
    "The inbox has questions with buttons and forms, texts of ended turns and notes; answered ones stay readable.",
  ),
  "ux-form-draft": phone(
    "The inputs of a form and the ticked options survive another view and a reload; a secret is not kept.",
  ),
  "ux-late": phone("A late answer says that it will be typed in."),
  "ux-notify": phone(
    "Web Push for questions, attention and ended turns can be switched off separately, with quiet hours and a test.",
  ),
  "ux-mute": phone(
    "A project is muted and unmuted from a session's menu, also without a connection, and listed in the settings; a project muted at the computer says so.",
  ),
  "ux-settings": phone(
    "Settings hold paired hosts, devices, hooks, theme, text size, mute, and an export of what was sent.",
  ),
});

const PHONE_BEHAVIOR = rows("docs/specification.md, Phone behavior", {
  "ux-textarea": main("The field is a real textarea, with IME and dictation."),
  "ux-outbox": phone(
    "The outbox survives a reload and sends with the same id when the connection is back; another open page takes over that of a closed one.",
  ),
  "ux-earlier": phone(
    "After a reload without a link, messages and inbox say that earlier items appear when the relay is reached.",
  ),
  "ux-any-order": phone(
    "What the page shows does not depend on the order of the relay's answers, and failed reads are repeated.",
  ),
  "ux-old-open": phone(
    "An open question, and the item of a tapped notification, are shown however much came after them.",
  ),
  "ux-reconnecting": phone("A dead connection shows within 2 seconds, and sending is held."),
  "ux-first-load": phone("A page whose scripts do not arrive says so, and what to do."),
  "ux-relay-back": phone("Once the relay accepts a message the page connects at once."),
  "ux-resume": mirror("A mirror resumes without a gap or a repetition."),
  "ux-small": phone(
    "The app works at 320 px, also with the phone's keyboard open, with targets of 44 px.",
  ),
  "ph-offline-shell": phone(
    "A page that was open once opens without a network; the service worker stores no answer of the relay.",
  ),
  "ux-strings": phone("Every text is in one catalog."),
  "ux-reading": phone(
    "History by pulling down, a pill to the newest line, find, selection, text as an alternative to the exact screen, choices kept per session.",
  ),
  "ux-fonts": phone(
    "Nothing overlaps or scrolls sideways with DejaVu, Noto or Liberation letters, also at twice their size.",
  ),
  "ux-a11y": phone("No view breaks a rule of axe-core, and controls have edges in forced colors."),
  "ux-landscape": phone(
    "With a keyboard open in landscape the terminal keeps eight rows and follows the cursor; without one the header shows the agent's state.",
  ),
  "ux-reduced-motion": phone("With reduced motion nothing moves by itself."),
  "ux-tablet": phone("On a tablet the list and the session are side by side."),
  "ux-direction": phone("A message that is read from right to left begins at the right."),
  "ux-languages": phone("The page is in English or German: the user's choice, else the browser's."),
  "ux-keyboard": phone(
    "Every step can be taken with Tab, Enter, Space and the arrow keys alone, and the focus is always visible.",
  ),
  "ux-steady": phone("Nothing in the list moves when the link is lost or comes back."),
  "ph-fast": phone(
    "Files are compressed at build time, served by Accept-Encoding, and immutable where hashed; deno task prove phone measures list and terminal on a slow network.",
  ),
  "ux-shots": phone(
    "`deno task test:phone` leaves screenshots of each view in light and dark, on three screens.",
  ),
});

const TERMINAL_OUTPUT = rows("docs/specification.md, Terminal output", {
  "tty-status": main("svc status fits on one screen."),
  "tty-verify": main("svc verify is a checklist of ✓ ! ✗ with finding and fix, ending in one sentence."),
  "tty-sessions": main("svc sessions is a table."),
  "tty-qr": main("The QR code of svc up fits into 80 × 24; where it would wrap, the link is printed alone."),
  "tty-verify-agents": agents("svc verify covers the hooks and the MCP server of each agent."),
  "tty-browser-test": main(
    "The page is driven in a real browser with a phone's viewport against relay, listener and tmux.",
  ),
});

export const EXPERIENCE_ROWS: readonly Requirement[] = [
  ...PHONE_VIEWS,
  ...PHONE_BEHAVIOR,
  ...TERMINAL_OUTPUT,
];
