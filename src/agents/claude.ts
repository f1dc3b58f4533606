/** Agent 1, the primary agent: the Claude command line. */
import { betweenRules, draftIn } from "./input_line.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readByPatterns } from "./read_screen.ts";

const dialog: DialogMarks = {
  lines: [
    "Do you want to (proceed|make this edit|create|allow|use)",
    "Enter to confirm",
    "Enter to select",
    "Quick safety check",
    "Do you trust",
    "[0-9][.] (Yes|No)(, |$)",
  ],
  titles: [],
};

export const claude: AgentProfile = {
  kind: "cc",
  label: "Claude",
  binary: "claude",
  install: "npm install -g @anthropic-ai/claude-code",
  args: [],
  env: { CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: "0" },
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 150, spaceAfterTail: true },
  dialog,
  readScreen: (screen) =>
    readByPatterns(screen, {
      dialog,
      // With a draft in the input line only the spinner tells: `✶ Channeling…`, `* Fixing the tests… (12s)`.
      working: [/esc to interrupt/, /^[·*✢✳✶✻✽] \S[^…]*…( \(.*)?$/u],
      workingTitle: /^[⠁-⣿]/u,
      draft: (tail) =>
        draftIn(betweenRules(tail), {
          prompt: /^\s*([❯>!])\s?/u,
          placeholder: /^(Try "|Press up to edit queued messages$)/,
        }),
    }),
};
