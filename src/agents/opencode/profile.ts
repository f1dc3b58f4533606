/** The OpenCode command line. */
import { columnsOf, sliceColumns } from "../../async/columns.ts";
import { composerAtBar, isBlank } from "../composer.ts";
import {
  type AgentProfile,
  type DialogMarks,
  menuKeys,
  type MenuScreen,
  type Screen,
  SEARCH_TEXT,
} from "../profile.ts";
import { composerReader } from "../read_screen.ts";
import { BARE_COMMANDS, SLASH_COMMANDS } from "../../protocol/slash_commands.ts";

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

/** Rows from the title of a list to its search field, in which the cursor stands. */
const SEARCH_ROW = 2;

/** The title row of a list that is drawn over the screen, which still shows around it. */
const LIST_TITLE = /(?:^| {2})(Select model|Sessions) {3,}esc$/;

function listTitle({ lines, cursor }: Screen): string | undefined {
  return cursor.visible ? LIST_TITLE.exec(lines[cursor.y - SEARCH_ROW] ?? "")?.[1] : undefined;
}

/** Any list's title row, with the composer, an answer or a side bar around it. */
const ANY_TITLE = / {2}(?=\S+(?: \S+)* {3,}esc(?: {2}|$))/;
/** Blank columns to the left of a list's text. */
const LIST_MARGIN = 2;

/** The title is above the search field, which begins in the same column, and not in that of the composer's own text. */
function isCovered({ lines, cursor }: Screen): boolean {
  const row = lines[cursor.y - SEARCH_ROW] ?? "";
  const title = ANY_TITLE.exec(row);
  if (title === null || !cursor.visible) return false;
  const left = columnsOf(row.slice(0, title.index)) + LIST_MARGIN;
  const search = lines[cursor.y] ?? "";
  return cursor.x >= left && isBlank(sliceColumns(search, left - LIST_MARGIN, left)) &&
    !isBlank(sliceColumns(search, left, left + 1)) && composerAtBar(lines)?.left !== left;
}

const LIST_KEYS = { keys: ["Enter", "BSpace"], text: SEARCH_TEXT };

const menus: readonly MenuScreen[] = [
  { name: "model", ...LIST_KEYS, isShown: (screen) => listTitle(screen) === "Select model" },
  { name: "sessions", ...LIST_KEYS, isShown: (screen) => listTitle(screen) === "Sessions" },
];

export const profile: AgentProfile = {
  kind: "opencode",
  label: "OpenCode",
  binary: "opencode",
  offLimits: {
    settings: ["\\.opencode", "opencode\\.jsonc?", "\\.?config/opencode"],
    subcommands: ["run", "serve", "web", "acp"],
  },
  install: "npm install -g opencode-ai",
  npmPackage: "opencode-ai",
  args: [],
  resume: ["--continue"],
  env: {},
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 150, spaceAfter: "tail" },
  dialog,
  measuredVersion: "1.18.33",
  menus: menuKeys(menus),
  // Tab switches the agent, and with it what needs a permission; Ctrl-C in an empty composer ends OpenCode at once.
  keys: { alsoAllowed: [], forbidden: ["Tab"], forbiddenWhenEmpty: ["C-c"] },
  commands: SLASH_COMMANDS.opencode,
  bareCommands: BARE_COMMANDS.opencode,
  nestsCommands: true,
  gate: { afterEnterMs: 200 },
  modelCommand: "/models",
  hasShellMode: true,
  opensView: true,
  foldedPaste: /^\[Pasted ~\d+ lines\]$/,
  readScreen: composerReader({
    dialog,
    menus,
    find: composerAtBar,
    isCovered,
    // The screen ends with one blank row.
    hasFooter: (footer, { rowsBelow }) => rowsBelow === 1 && !isBlank(footer[0]),
    placeholder: /^(?:Ask anything|Run a command)(?:…|\.\.\.)/u,
    working: { below: /\besc (?:again to )?interrupt/ },
    // Lists are drawn over the composer, which still shows around them.
    cursor: "shown",
    tip: /^ +● Tip /u,
  }),
};
