/** The Copilot command line. */
import { betweenRules, draftIn } from "./input_line.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readByPatterns } from "./read_screen.ts";

const dialog: DialogMarks = {
  lines: [
    "enter to select",
    "to navigate .* enter to",
    "Do you want to (run|allow|proceed|add)",
    "Confirm folder trust",
  ],
  titles: [],
};

export const copilot: AgentProfile = {
  kind: "copilot",
  label: "Copilot",
  binary: "copilot",
  install: "npm install -g @github/copilot",
  args: [],
  env: {},
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 150, spaceAfterTail: true },
  dialog,
  readScreen: (screen) =>
    readByPatterns(screen, {
      dialog,
      working: [/esc(?: esc)? (?:to )?(?:interrupt|cancel)/i, /^ \S Working /u],
      draft: (tail) =>
        draftIn(betweenRules(tail), {
          prompt: /^\s*([❯>!])(?:\s|$)/u,
          placeholder: /^(Enter @|Type @|Ask |Execute shell command$)/,
        }),
    }),
};
