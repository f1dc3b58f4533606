/** The Copilot command line. */
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { draftAfter, readByPatterns } from "./read_screen.ts";

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
      working: [/esc(?: esc)? (?:to )?(?:interrupt|cancel)/i],
      draft: (tail) =>
        draftAfter(tail, {
          prompt: /^\s*[│]?\s*[❯>]\s?/u,
          end: /^\s*[─╰━]{3}/u,
          placeholder: /^(Enter @|Type @|Ask )/,
        }),
    }),
};
