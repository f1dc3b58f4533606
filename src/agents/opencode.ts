/** The OpenCode command line. */
import type { AgentProfile, DialogMarks } from "./profile.ts";
import { readByPatterns } from "./read_screen.ts";

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
      draft: barredDraft,
    }),
};

/**
 * The input box: lines with a bar before them, down to `╹▀▀▀`. The last one names the mode, and a menu above it has a bar
 * at its end too.
 */
function barredDraft(tail: readonly string[]): string | undefined {
  const end = tail.findLastIndex((line) => /^\s*╹/u.test(line));
  if (end < 0) return undefined;
  const start = tail.slice(0, end).findLastIndex((line) => !/^\s*┃(?:.*[^┃])?$/u.test(line));
  const lines = tail.slice(start + 1, end).map((line) => line.replace(/^\s*┃\s*/u, ""));
  const mode = lines.pop();
  const text = lines.join("\n").trim();
  const shown = /^(Ask anything|Run a command)…/u.test(text) ? "" : text;
  return mode === "Shell" ? `!${shown}` : shown;
}
