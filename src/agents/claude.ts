/** Agent 1, the primary agent: the Claude command line. */
import { composerInRules } from "./composer.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readComposer } from "./read_composer.ts";

const dialog: DialogMarks = {
  lines: [
    // The names of the keys under a dialog, and the answers above them.
    "Enter to (confirm|select|continue|submit|approve|choose|save|resume|connect)",
    "Esc to [a-z]",
    "^ ?Do you want to ",
    "[0-9][.] (Yes|No)(,|$)",
    "^ +(Yes|No), [a-z]",
    "Choose the text style",
    "Select login method",
    // Keys scroll there, search, and open an editor.
    "Showing detailed transcript",
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
  measuredVersion: "2.1.329",
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: [],
  gate: { afterEnterMs: 0 },
  readScreen: (screen) =>
    readComposer(screen, {
      dialog,
      find: (lines) => composerInRules(lines, { sign: /^([❯>!])(?:\s|$)/u, width: 2 }),
      // A suggested next prompt may be any text; only the cursor tells it from a draft.
      placeholder:
        /^(?:Try "|Press up to |Press Enter to edit the selected |Message @|Taking your message back)/,
      // With a draft in the input line only the spinner tells: `✶ Channeling…`, `* Fixing the tests… (12s)`.
      working: { above: /^[·*✢✳✶✻✽] (?!\S+ for \d)[^…]*…/u, below: /esc to interrupt/, title: /^[⠁-⣿]/u },
      cursor: "loose",
    }),
};
