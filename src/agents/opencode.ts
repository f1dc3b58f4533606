/** The OpenCode command line. */
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { draftAfter, readByPatterns } from "./read_screen.ts";

const dialog: DialogMarks = {
  lines: ["Permission required", "Allow once +Allow always +Reject", "enter confirm"],
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
  readScreen: (screen) =>
    readByPatterns(screen, {
      dialog,
      working: [/esc (to )?interrupt/],
      draft: (tail) =>
        draftAfter(tail, {
          prompt: /^\s*[┃│]\s{2}(?=\S|$)/u,
          end: /^\s*[┃│╹]\s*$/u,
          placeholder: /^Ask anything/,
        }),
    }),
};
