/** Agent 2: the Gemini command line. */
import { betweenRules, draftIn } from "./input_line.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readByPatterns } from "./read_screen.ts";

const dialog: DialogMarks = {
  lines: [
    "Allow execution of",
    "[0-9][.] (Allow once|Yes|No|Trust folder|Trust parent)",
    "Do you trust",
    "Apply this change",
    "How would you like to authenticate",
    "Use Enter to select",
  ],
  titles: ["*Action Required*"],
};

export const gemini: AgentProfile = {
  kind: "gemini",
  label: "Gemini",
  binary: "gemini",
  install: "npm install -g @google/gemini-cli",
  args: [],
  env: {},
  ignoresHangup: true,
  typing: { method: "paste", settleMs: 300, settleAtLeastMs: 150, spaceAfterTail: true },
  dialog,
  readScreen: (screen) =>
    readByPatterns(screen, {
      dialog,
      working: [/\(esc to cancel, \d+/],
      workingTitle: /Working…/u,
      draft: (tail) =>
        draftIn(betweenRules(tail), {
          prompt: /^\s*([>*!])(?:\s|$)/u,
          placeholder: /^Type your (message or @path\/to\/file|shell command)$/,
        }),
    }),
};
