/** The built-in echo agent, for trying svc without an installed agent. */
import { lastRow } from "../composer.ts";
import type { AgentProfile, DialogMarks, Screen, ScreenReading } from "../profile.ts";
import { compiledMarks, isOversized } from "../read_screen.ts";
import { SLASH_COMMANDS } from "../../protocol/slash_commands.ts";

/** Anchored: the echoed text has a bar before each line, so it never matches. */
const dialog: DialogMarks = { lines: ["^Enter to confirm"], titles: [] };

const marks = compiledMarks(dialog);
const PROMPT = /^❯(?: |$)/u;
const STATUS = /^echo · (working|idle)/u;

/** The prompt, with the cursor in its row, and below it the status, the last row with text. */
function readScreen(screen: Screen): ScreenReading {
  const nothing: ScreenReading = { state: undefined, focus: "unknown", draft: undefined };
  if (isOversized(screen) || screen.applicationKeys) return nothing;
  const { lines, cursor } = screen;
  const last = lastRow(lines);
  if (marks.inLines(lines.slice(Math.max(0, last), last + 1))) {
    return { state: "waiting", focus: "dialog", draft: undefined };
  }
  const status = STATUS.exec(lines[last] ?? "")?.[1];
  const prompt = lines[last - 1] ?? "";
  if (status === undefined || !PROMPT.test(prompt) || cursor.y !== last - 1) return nothing;
  const state = status === "working" ? "working" : "idle";
  return { state, focus: "composer", draft: prompt.slice(2).trim() };
}

export const profile: AgentProfile = {
  kind: "echo",
  label: "Echo",
  binary: "svc",
  offLimits: {
    settings: ["\\.svc"],
    subcommands: [
      "(?:un)?(?:pair|mute|setup)",
      "key\\w*",
      "devices\\s+re\\w+",
      "send|listener|service|server|up",
    ],
  },
  install: "comes with svc",
  args: ["echo-agent"],
  resume: [],
  env: {},
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 0, spaceAfter: "none" },
  dialog,
  measuredVersion: "",
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: SLASH_COMMANDS.echo,
  // It shows the first of several lines, which may be empty, and ends a line that is too long with an ellipsis.
  foldedPaste: /^(?:(?:.* )?⏎ … \[\d+ lines\]|.*…)$/u,
  gate: { afterEnterMs: 0 },
  readScreen,
};
