/** Agent 2: the Gemini command line. */
import { composerInRules } from "./composer.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readComposer } from "./read_composer.ts";

const dialog: DialogMarks = {
  lines: [
    "Allow execution of",
    "[0-9][.] +(Allow (once|for|tool|all)|Trust |Don't trust|Yes|No,|No .esc)",
    "[0-9][.] +(Keep (trying|loop)|Switch to|Sign in|Accept and|Acknowledge and|Change auth|Verify your|Use AI|Get AI)",
    "Do you trust the files",
    "Apply this change[?]",
    "[Ee]nter to (select|submit|confirm|choose)",
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
  measuredVersion: "0.61.0",
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: [],
  gate: { afterEnterMs: 0 },
  readScreen: (screen) =>
    readComposer(screen, {
      dialog,
      find: (lines) => composerInRules(lines, { sign: /^ ([>*!])(?:\s|$)/u, width: 3 }),
      placeholder: /^(?:Type your (?:message|shell command)|Press '(?:Esc|i)' for )/,
      working: { above: /\(esc to cancel, \d/, title: /^[✦⏲]/u },
      // It leaves the input line when the terminal loses the focus.
      cursor: "loose",
    }),
};
