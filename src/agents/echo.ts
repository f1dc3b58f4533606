/** The built-in echo agent: shows the whole path where no agent is installed. */
import { draftAfter } from "./input_line.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readByPatterns } from "./read_screen.ts";

/** Anchored: what the agent says back has a bar before each line and is never taken for its dialog. */
const dialog: DialogMarks = { lines: ["^Enter to confirm"], titles: [] };

export const echo: AgentProfile = {
  kind: "echo",
  label: "Echo",
  binary: "svc",
  install: "comes with svc",
  args: ["echo-agent"],
  env: {},
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 0, spaceAfterTail: false },
  dialog,
  measuredVersion: "",
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: ["work", "permit", "help", "exit"],
  // Of several lines it shows the first, and a line that is too long ends in an ellipsis.
  foldedPaste: /^(?:.* ⏎ … \[\d+ lines\]|.*…)$/u,
  gate: { afterEnterMs: 0 },
  readScreen: (screen) =>
    readByPatterns(screen, {
      dialog,
      working: [/^echo · working/u],
      draft: (tail) => draftAfter(tail, { prompt: /^❯ ?/u, end: /^echo · /u }),
    }),
};
