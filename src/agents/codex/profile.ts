/** Agent 3: the Codex command line. */
import { composerAtPrompt, isBlank, lastRow } from "../composer.ts";
import {
  type AgentProfile,
  type DialogMarks,
  menuKeys,
  type MenuScreen,
  ROW_NUMBER,
  type Screen,
  SEARCH_TEXT,
} from "../profile.ts";
import { composerReader, type FooterPlace } from "../read_screen.ts";
import { SLASH_COMMANDS } from "../../protocol/slash_commands.ts";

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

/** More rows than its footer has on a narrow screen. */
const FOOTER_ROWS = 8;
/** More rows than a list has. */
const LIST_ROWS = 40;

/** Shown alone until the folder's trust is decided: text typed before that goes to the dialog that follows. */
const EARLY_FOOTER = "  ? for shortcuts";

function isFooter(footer: readonly string[], { rowsBelow }: FooterPlace): boolean {
  const isEarly = footer.length === 1 && footer[0]?.trimEnd() === EARLY_FOOTER;
  return rowsBelow === 0 && footer.length > 0 && footer.length <= FOOTER_ROWS && !isEarly &&
    footer.every((line) => line.startsWith("  "));
}

/** The title of the numbered list at the end of the screen, whose last row names the keys. */
function listTitle({ lines, cursor }: Screen): string | undefined {
  const last = lastRow(lines);
  if (cursor.visible || !/^ {2}enter select · esc (?:back|cancel)$/u.test(lines[last] ?? "")) {
    return undefined;
  }
  for (let row = last - 1; row >= 0 && row > last - LIST_ROWS; row--) {
    const line = lines[row] ?? "";
    const isOfList = isBlank(line) || /^(?:[› ] +\d+\. | {4}|[↑↓])/u.test(line);
    if (!isOfList) return line.trim();
  }
  return undefined;
}

/** A full-screen pager: its heading, and the names of keys below the rule at its end. */
function isPager({ lines, cursor }: Screen, { heading, keys }: { heading: RegExp; keys: RegExp }): boolean {
  const first = lines.find((line) => !isBlank(line)) ?? "";
  const last = lastRow(lines);
  let rule = last;
  while (rule > last - FOOTER_ROWS && rule > 0 && !/^─{3}.* \d+% ─$/u.test(lines[rule] ?? "")) rule--;
  return !cursor.visible && heading.test(first) && rule > last - FOOTER_ROWS &&
    lines.slice(rule + 1, last + 1).some((line) => keys.test(line));
}

const PAGER = { isView: true, keys: ["PPage", "NPage", "Home", "End", "Space"], text: /^q$/ } as const;

const menus: readonly MenuScreen[] = [
  {
    name: "model",
    keys: ["Enter"],
    text: ROW_NUMBER,
    isShown: (screen) => /^Select (?:Model|Reasoning)\b/.test(listTitle(screen) ?? ""),
  },
  {
    name: "sessions",
    keys: ["Enter", "BSpace", "PPage", "NPage", "Home", "End"],
    text: SEARCH_TEXT,
    isShown: (screen) =>
      isPager(screen, { heading: /^ Resume a previous session$/, keys: /^ enter resume / }),
  },
  {
    name: "diff",
    ...PAGER,
    isShown: (screen) => isPager(screen, { heading: /^\/ D I F F \//, keys: /^ q / }),
  },
];

export const profile: AgentProfile = {
  kind: "codex",
  label: "Codex",
  binary: "codex",
  offLimits: { settings: ["\\.codex"], subcommands: ["exec", "e"] },
  install: "npm install -g @openai/codex",
  npmPackage: "@openai/codex",
  // The shared background server would run hooks and MCP servers with the environment of another session.
  args: ["--disable", "daemon_auto_start"],
  resume: ["resume", "--last"],
  env: {},
  ignoresHangup: false,
  // An external editor turns bracketed paste off, and Codex does not turn it on again.
  typing: { method: "marked", settleMs: 150, spaceAfter: "text" },
  dialog,
  measuredVersion: "0.169.0",
  menus: menuKeys(menus),
  // Tab submits a draft, and queues it during a turn; Left in an empty composer opens the list of agents.
  keys: { alsoAllowed: [], forbidden: ["Tab"], forbiddenWhenEmpty: ["Left"] },
  commands: SLASH_COMMANDS.codex,
  gate: { afterEnterMs: 0 },
  modelCommand: "/model",
  hasShellMode: true,
  foldedPaste: /^\[Pasted Content \d+ chars\]$/,
  readScreen: composerReader({
    dialog,
    menus,
    find: (lines) => composerAtPrompt(lines, { sign: /^([›!])(?:\s|$)/u, width: 2 }),
    hasFooter: isFooter,
    placeholder: /^Ask (?:Codex to do anything|a follow-up question)$/,
    working: { above: /^[•◦] .*\((?:\d+[hms] )+• esc to interrupt(?:\)|…|$)/u, title: /^[⠁-⣿]/u },
    // The chosen row of its lists looks like the prompt.
    cursor: "shown",
  }),
};
