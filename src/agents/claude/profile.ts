/** Agent 1, the primary agent: the Claude command line. */
import { composerInRules, isBlank, lastRow } from "../composer.ts";
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
    // The key names below a dialog, and the answers above them.
    "Enter to (confirm|select|continue|submit|approve|choose|save|resume|connect)",
    "Esc to [a-z]",
    "^ ?Do you want to ",
    "[0-9][.] (Yes|No)(,|$)",
    "^ +(Yes|No), [a-z]",
    "Choose the text style",
    "Select login method",
    // Here keys scroll, search and open an editor.
    "Showing detailed transcript",
  ],
  titles: [],
};

/** The first row of a panel, from edge to edge. */
const PANEL = /^▔{10}/u;
/** More rows than its footer has, including the list of shortcuts. */
const FOOTER_ROWS = 12;

/** The rows of the panel at the end of the screen without its upper edge; all of them are indented. */
function panelRows({ lines }: Screen): readonly string[] {
  let edge = lines.length - 1;
  while (edge >= 0 && !PANEL.test(lines[edge] ?? "")) edge--;
  const rows = edge < 0 ? [] : lines.slice(edge + 1);
  return rows.every((row) => isBlank(row.slice(0, 2))) ? rows : [];
}

const MODEL_KEYS = /^[1-9s]$/;

const menus: readonly MenuScreen[] = [
  {
    name: "model",
    keys: ["Enter"],
    text: MODEL_KEYS,
    isShown(screen) {
      const { lines, cursor } = screen;
      const isChosen = cursor.x === 2 && /^ {2}❯ \d+\. /u.test(lines[cursor.y] ?? "");
      return isChosen && panelRows(screen)[0]?.trim() === "Select model";
    },
  },
  {
    name: "sessions",
    keys: ["Enter", "BSpace"],
    text: SEARCH_TEXT,
    isShown(screen) {
      const [title, , search] = panelRows(screen);
      return /^ {2}Resume session\b/.test(title ?? "") && /^ {2}│ ⌕ /u.test(search ?? "");
    },
  },
  {
    // `v` opens an editor here.
    name: "transcript",
    isView: true,
    keys: ["C-o", "PPage", "NPage", "Home", "End"],
    isShown({ lines, cursor }) {
      const last = lastRow(lines);
      return cursor.x === 0 && cursor.y >= last && !cursor.visible &&
        /^─{10,}$/u.test(lines[last - 1] ?? "") &&
        /^ {2}Showing detailed transcript · /u.test(lines[last] ?? "");
    },
  },
];

export const profile: AgentProfile = {
  kind: "cc",
  label: "Claude",
  binary: "claude",
  offLimits: { settings: ["\\.claude"], options: ["-p", "--print", "--prompt"] },
  install: "npm install -g @anthropic-ai/claude-code",
  npmPackage: "@anthropic-ai/claude-code",
  args: [],
  resume: ["--continue"],
  env: { CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: "0" },
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 150, spaceAfter: "text" },
  dialog,
  measuredVersion: "2.1.329",
  menus: menuKeys(menus),
  // Ctrl-B sends a running command to the background; Left in an empty composer leaves the session for the list of agents.
  keys: { alsoAllowed: ["C-o"], forbidden: ["C-b"], forbiddenWhenEmpty: ["Left"] },
  commands: SLASH_COMMANDS.cc,
  bareCommands: BARE_COMMANDS.cc,
  gate: { afterEnterMs: 0 },
  modelCommand: "/model",
  hasShellMode: true,
  foldedPaste: /^\[Pasted text #\d+(?: \+\d+ lines)?\]$/,
  readScreen: composerReader({
    dialog,
    menus,
    find: (lines) => composerInRules(lines, { sign: /^([❯>!])(?:\s|$)/u, width: 2, countsRows: true }),
    // In the vi mode's VISUAL mode Enter does not submit.
    hasFooter: (footer) =>
      footer.length > 0 && footer.length <= FOOTER_ROWS && !footer.some((line) =>
        line.includes("-- VISUAL")
      ) &&
      footer.every((line) => line.startsWith("  ") && !isBlank(line)),
    // A suggested next prompt may be any text; only the cursor distinguishes it from a draft.
    placeholder:
      /^(?:Try "|Press up to |Press Enter to edit the selected |Message @|Taking your message back)/,
    // With a draft in the composer, only the spinner shows work: `✶ Channeling…`, `* Fixing the tests… (12s)`.
    working: { above: /^[·*✢✳✶✻✽] (?!\S+ for \d)[^…]*…/u, below: /esc to interrupt/, title: /^[⠁-⣿]/u },
    cursor: "hidden",
    // The topic of a conversation, which is shown after a sign, may end in the same words.
    otherView: /^(?:\S |.* · )?claude agents$/u,
    panel: PANEL,
  }),
};
