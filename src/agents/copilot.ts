/** The Copilot command line. */
import { composerInRules } from "./composer.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readComposer } from "./read_composer.ts";

const dialog: DialogMarks = {
  lines: [
    "[Ee]nter to (select|submit|confirm|continue|save|open)",
    "to navigate",
    "esc (to )?cancel",
    "[0-9][.] (Yes|No)(,| |$)",
    "Confirm folder trust",
  ],
  titles: [],
};

export const copilot: AgentProfile = {
  kind: "copilot",
  label: "Copilot",
  binary: "copilot",
  install: "npm install -g @github/copilot",
  // It asks before each call of an MCP tool, and no file of its own can tell it otherwise.
  args: ["--allow-tool=svc"],
  env: {},
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 150, spaceAfterTail: true },
  dialog,
  measuredVersion: "1.0.102",
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: [],
  gate: { afterEnterMs: 0 },
  readScreen: (screen) =>
    readComposer(screen, {
      dialog,
      find: (lines) => composerInRules(lines, { sign: /^([❯>!])(?:\s|$)/u, width: 2 }),
      placeholder:
        /^(?:Execute shell command|Edit queued message|Message th(?:is|e) subagent|Refining your prompt)/,
      working: {
        below: /^[^─]*?[∙∘○◎◉●] \S|\besc(?: esc| again to)? (?:interrupt|edit prompt|stop agents)/u,
      },
      cursor: "placed",
    }),
};
