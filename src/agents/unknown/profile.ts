/** A pane that no wrapper created: typed as plain keys, and its screen is read only for the dialogs of all agents. */
import { AGENT_KINDS } from "../registry.ts";
import { agentProfile } from "../profiles.ts";
import type { AgentProfile, DialogMarks, Screen, ScreenReading } from "../profile.ts";
import { compiledMarks, isOversized } from "../read_screen.ts";

/** The echo agent's dialog is unlike any other agent's. */
const known = AGENT_KINDS.filter((kind) => kind !== "echo").map((kind) => agentProfile(kind).dialog);

const dialog: DialogMarks = {
  lines: [...new Set(known.flatMap(({ lines }) => lines))],
  titles: [...new Set(known.flatMap(({ titles }) => titles))],
};

const marks = compiledMarks(dialog);

/** Only the fields that typing and reading need: it has no kind. */
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
