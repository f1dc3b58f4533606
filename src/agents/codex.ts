/** Agent 3: the Codex command line. */
import { composerAtPrompt } from "./composer.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readComposer } from "./read_composer.ts";

const dialog: DialogMarks = {
  lines: [
    "[Ee]nter (to )?(confirm|continue|select|submit|save|choose|review|approve)",
    "esc (to )?(cancel|back|skip)",
    "Would you like to (run|make|grant|send|allow)",
    "[0-9][.] (Yes|No|Trust and continue)(,|$)",
    "Hooks need review",
    "Sign in with ChatGPT",
  ],
  titles: ["*Action Required*"],
};

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
  measuredVersion: "0.169.0",
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: [],
  gate: { afterEnterMs: 0 },
  readScreen: (screen) =>
    readComposer(screen, {
      dialog,
      find: (lines) => composerAtPrompt(lines, { sign: /^([›!])(?:\s|$)/u, width: 2 }),
      placeholder: /^Ask (?:Codex to do anything|a follow-up question)$/,
      working: { above: /^[•◦] .*esc to interrupt/u, title: /^[⠁-⣿]/u },
      // The chosen row of its lists looks like the prompt.
      cursor: "shown",
    }),
};
