/** The OpenCode command line. */
import { composerAtBar } from "./composer.ts";
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readComposer } from "./read_composer.ts";

const dialog: DialogMarks = {
  lines: [
    "Permission required",
    "Allow once +Allow always",
    "select +enter",
    "enter (confirm|submit|toggle)( |$)",
    // The title row of a list that is drawn over the screen.
    "^ +[A-Z].*   esc$",
  ],
  titles: [],
};

export const opencode: AgentProfile = {
  kind: "opencode",
  label: "OpenCode",
  binary: "opencode",
  install: "npm install -g opencode-ai",
  args: [],
  env: {},
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 150, spaceAfterTail: true },
  dialog,
  measuredVersion: "1.18.33",
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: [],
  gate: { afterEnterMs: 200 },
  readScreen: (screen) =>
    readComposer(screen, {
      dialog,
      find: composerAtBar,
      placeholder: /^(?:Ask anything|Run a command)(?:…|\.\.\.)/u,
      working: { below: /\besc (?:again to )?interrupt/ },
      // Lists are drawn over the input line, which still shows around them.
      cursor: "placed",
    }),
};
