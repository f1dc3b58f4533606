/** Agent 3: the Codex command line. */
import { aboveStatus, draftIn, type InputLine } from "./input_line.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readByPatterns } from "./read_screen.ts";

const dialog: DialogMarks = {
  lines: [
    "Press enter to (confirm|continue)",
    "enter to confirm",
    "Would you like to (run|make|grant|allow)",
    "Trust and continue",
    "Hooks need review",
    "Sign in with",
  ],
  titles: ["*Action Required*"],
};

const input: InputLine = { prompt: /^([›!])(?:\s|$)/u, placeholder: /^Ask Codex to do anything$/ };

export const codex: AgentProfile = {
  kind: "codex",
  label: "Codex",
  binary: "codex",
  install: "npm install -g @openai/codex",
  // The shared background server would run hooks and MCP servers with the environment of another session.
  args: ["--disable", "daemon_auto_start"],
  env: {},
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 150, spaceAfterTail: true },
  dialog,
  readScreen: (screen) =>
    readByPatterns(screen, {
      dialog,
      working: [/esc to interrupt/],
      workingTitle: /^[⠁-⣿]/u,
      draft: (tail) => draftIn(aboveStatus(tail, input), input),
    }),
};
