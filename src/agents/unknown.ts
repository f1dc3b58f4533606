/** A pane that no wrapper made: typed plainly, its screen read only for the dialogs that all agents share. */
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import type { AgentProfile, DialogMarks, Screen, ScreenReading } from "./profile.ts";
import { compiledMarks, isOversized } from "./read_screen.ts";

const known = [claude, codex, gemini, opencode, copilot, cursor];

const dialog: DialogMarks = {
  lines: [...new Set(known.flatMap((profile) => profile.dialog.lines))],
  titles: [...new Set(known.flatMap((profile) => profile.dialog.titles))],
};

const marks = compiledMarks(dialog);

/** Its kind is that of no agent; only the fields that typing and reading need. */
export const unknownAgent: Pick<
  AgentProfile,
  "typing" | "dialog" | "menus" | "keys" | "commands" | "readScreen"
> = {
  typing: { method: "plain", settleMs: 150, spaceAfter: "none" },
  dialog,
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: [],
  readScreen(screen: Screen): ScreenReading {
    const open = !isOversized(screen) && !screen.applicationKeys && marks.onScreen(screen);
    return { state: open ? "waiting" : undefined, focus: open ? "dialog" : "unknown", draft: undefined };
  },
};
