/** The Cursor-class terminal agent: `cursor-agent`, never the editor's launcher, which exits at once. */
import { composerInRules, isBlank } from "../composer.ts";
import type { AgentProfile, DialogMarks } from "../profile.ts";
import { compiledMarks, composerReader, isOversized } from "../read_screen.ts";
import { SLASH_COMMANDS } from "../../protocol/slash_commands.ts";

// From published screenshots: it cannot be run without an account.
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

const marks = compiledMarks(dialog);

const readComposer = composerReader({
  dialog,
  menus: [],
  find: (lines) => composerInRules(lines, { sign: /^ ?(→)(?:\s|$)/u, width: 2, margin: 1 }),
  hasFooter: (footer) => footer.length > 0 && footer.every((line) => !isBlank(line) && !/[│╭╰]/u.test(line)),
  placeholder: /^(?:Plan, search, build anything|Add a follow-up)/,
  working: { below: /ctrl\+c to stop|esc to (?:stop|cancel|interrupt)/i },
  cursor: "unmeasured",
});

export const profile: AgentProfile = {
  kind: "cursor",
  label: "Cursor",
  binary: "cursor-agent",
  offLimits: { settings: ["\\.cursor"], options: ["-p", "--print", "--prompt"] },
  install: "the installer at cursor.com/install",
  args: [],
  resume: undefined,
  env: {},
  ignoresHangup: false,
  takesNoMarkers: true,
  typing: { method: "paste", settleMs: 300, settleAtLeastMs: 150, spaceAfter: "tail" },
  dialog,
  measuredVersion: "",
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: SLASH_COMMANDS.cursor,
  // The position of its dialogs is unknown, so a mark in any row counts.
  readScreen: (screen) =>
    !isOversized(screen) && !screen.applicationKeys && marks.onScreen(screen)
      ? { state: "waiting", focus: "dialog", draft: undefined }
      : readComposer(screen),
};
