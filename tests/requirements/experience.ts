/** What experience.md asks of the phone and of the terminal. */
import { agents, main, mirror, phone, type Requirement, rows } from "./row.ts";

const VIEWS = rows("experience, phone views", {
  "ux-pair": mirror("Pairing is a scan and the same six words on both screens."),
  "ux-cards": phone(
    "Every session is a card with label, state, host, last line and lock; waiting ones come first.",
  ),
  "ux-offline": phone("Offline hosts are greyed with when they were last seen."),
  "ux-live": main("The picker is live: nothing has to be pulled."),
  "ux-session": phone("A session shows status line, mirror, key row and text field."),
  "ux-two-ways": phone("One switch chooses between message and live typing."),
  "ux-receipt": main("A message's bubble shows its receipt: state, and the reason in words with what to do."),
  "ux-mirror-touch": phone("The mirror zooms, pans, scrolls back and lets text be selected and copied."),
  "ux-no-resize": mirror("The mirror resizes the desk only when asked, undone on leaving."),
  "ux-inbox": phone(
    "The inbox has asks with buttons and forms, stop texts and notes; answered ones stay readable.",
  ),
  "ux-late": phone("A late answer says that it will be typed in."),
  "ux-notify": phone(
    "Web Push for asks, attention and stops can be switched off each, with quiet hours and a test.",
  ),
  "ux-settings": phone("Settings hold devices, encryption, theme, text size, mute, export."),
});

const BEHAVIOUR = rows("experience, behaviour", {
  "ux-textarea": main("The field is a real textarea, with IME and dictation."),
  "ux-outbox": phone("The outbox survives a reload and sends with the same id when the link is back."),
  "ux-reconnecting": phone("A dead link shows within 2 seconds and sending is held."),
  "ux-resume": mirror("A mirror resumes without gap or repeat."),
  "ux-small": phone(
    "The app works at 320 px, in landscape, with keyboards open, with a screen reader, at 44 px targets.",
  ),
  "ux-strings": phone("Every string is in one catalogue."),
  "ux-shots": phone("The browser's tests leave screenshots of each view in light and dark."),
});

const TERMINAL = rows("experience, terminal", {
  "tty-status": main("svc status fits on one screen."),
  "tty-verify": main("svc verify is a check list of ✓ ! ✗ with finding and fix, ending in one sentence."),
  "tty-sessions": main("svc sessions is a table."),
  "tty-qr": main("The QR of svc up fits 80 × 24."),
  "tty-verify-agents": agents("svc verify covers hooks and MCP of each agent."),
  "tty-browser-test": main(
    "The page is driven in a real browser with a phone's viewport against relay, listener and tmux.",
  ),
});

export const EXPERIENCE_ROWS: readonly Requirement[] = [...VIEWS, ...BEHAVIOUR, ...TERMINAL];
