/** The Cursor-class terminal agent: `cursor-agent`, never the editor's launcher, which exits at once. */
import { draftAfter } from "./input_line.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readByPatterns } from "./read_screen.ts";

// From what others published of its screens: it cannot be run without an account.
const dialog: DialogMarks = {
  lines: [
    "Waiting for approval",
    "Run this command[?]",
    "Not in (team )?allowlist",
    " [(]y[)]( |$)",
    "[(](esc or [a-z]|n|tab|shift[+]tab)[)]( |$)",
    "Do you trust",
    "Workspace Trust",
    "[Pp]ress (enter|any key) to",
  ],
  titles: [],
};

export const cursor: AgentProfile = {
  kind: "cursor",
  label: "Cursor",
  binary: "cursor-agent",
  install: "the installer at cursor.com/install",
  args: [],
  env: {},
  ignoresHangup: false,
  takesNoMarkers: true,
  typing: { method: "paste", settleMs: 300, settleAtLeastMs: 150, spaceAfterTail: true },
  dialog,
  measuredVersion: "",
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: [],
  readScreen: (screen) =>
    readByPatterns(screen, {
      dialog,
      working: [/ctrl\+c to stop/i, /esc to (?:stop|cancel|interrupt)/i],
      draft: (tail) =>
        draftAfter(tail, {
          prompt: /^\s*│?\s*[→❯>]\s?/u,
          end: /^\s*(?:[─╰━▀]{3}|│?\s*$)/u,
          placeholder: /^(?:Plan, search, build anything|Add a follow-up)/,
        }),
    }),
};
