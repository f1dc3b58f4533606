/** Agent 2: the Gemini command line. */
import { composerInRules, composerUnderRule, isBlank, lastRow } from "../composer.ts";
import {
  type AgentProfile,
  type DialogMarks,
  menuKeys,
  type MenuScreen,
  ROW_NUMBER,
  type Screen,
} from "../profile.ts";
import { composerReader, type FooterPlace } from "../read_screen.ts";
import { SLASH_COMMANDS } from "../../protocol/slash_commands.ts";

const dialog: DialogMarks = {
  lines: [
    "Allow execution of",
    "[0-9][.] +(Allow (once|for|tool|all)|Trust |Don't trust|Yes|No,|No .esc)",
    "[0-9][.] +(Keep (trying|loop)|Switch to|Sign in|Accept and|Acknowledge and|Change auth|Verify your|Use AI|Get AI)",
    "Do you trust the files",
    "Apply this change[?]",
    "[Ee]nter to (select|submit|confirm|choose)",
  ],
  titles: ["*Action Required*"],
};

/** The last rows with text of the box at the end of the screen, bottom row first; its subject is above them. */
function boxEnd({ lines }: Screen): string[] {
  const bottom = lastRow(lines);
  if (!/^╰─+╯$/u.test(lines[bottom] ?? "")) return [];
  const rows = lines.slice(Math.max(0, bottom - BOX_ROWS), bottom).filter((line) => /^│.*│$/u.test(line));
  return rows.map((line) => line.slice(1, -1).trim()).filter((text) => text !== "").reverse();
}

/** How many rows at the end of a box are read. */
const BOX_ROWS = 8;

function showsModels(screen: Screen): boolean {
  const [close, flag = ""] = boxEnd(screen);
  return close === "(Press Esc to close)" && flag.endsWith("use the --model flag.");
}

/** The list of sessions: a heading, the names of its keys, and a table up to the screen's end. */
const SESSIONS_HEADING = /^ Chat Sessions \(\d/;
/** Rows between the heading and the names of the keys, on a narrow screen. */
const HEADING_ROWS = 2;
/** More rows than the list has. */
const SESSION_ROWS = 40;

function showsSessions({ lines, cursor }: Screen): boolean {
  const last = lastRow(lines);
  let heading = last;
  while (heading > 0 && heading > last - SESSION_ROWS && !SESSIONS_HEADING.test(lines[heading] ?? "")) {
    heading--;
  }
  const rows = lines.slice(heading + 1, last + 1);
  return SESSIONS_HEADING.test(lines[heading] ?? "") && !cursor.visible &&
    rows.slice(0, HEADING_ROWS).some((row) => /^ Navigate: ↑\/↓ {3}Resume: Enter/u.test(row)) &&
    rows.every((row) => !/[╭╰]/u.test(row)) && rows.some((row) => /^ +Index │ Msgs │/u.test(row));
}

const menus: readonly MenuScreen[] = [
  {
    name: "model",
    keys: ["Enter"],
    text: ROW_NUMBER,
    isShown: showsModels,
  },
  {
    // `x` deletes a session.
    name: "sessions",
    keys: ["Enter"],
    text: /^[gGqrs]$/,
    isShown: showsSessions,
  },
];

/**
 * Earlier prompts have the same frame as the composer, but only the composer is followed directly by the footer. A narrow
 * terminal leaves parts of earlier drawings below the footer; then the cursor decides.
 */
function isFooter(footer: readonly string[], { isPlaced }: FooterPlace): boolean {
  return /^ \S/.test(footer[0] ?? "") && !footer.some((line) => /[│╭╰]/u.test(line)) &&
    (isPlaced || !footer.some(isBlank));
}

const PROMPT = { sign: /^ ([>*!])(?:\s|$)/u, width: 3 };

export const profile: AgentProfile = {
  kind: "gemini",
  label: "Gemini",
  binary: "gemini",
  offLimits: { settings: ["\\.gemini"], options: ["-p", "--print", "--prompt"] },
  install: "npm install -g @google/gemini-cli",
  npmPackage: "@google/gemini-cli",
  args: [],
  resume: ["--resume", "latest"],
  env: {},
  ignoresHangup: true,
  // It shows its composer before it enables bracketed paste: an unmarked `?` opens its help instead.
  typing: { method: "marked", settleMs: 300, settleAtLeastMs: 150, spaceAfter: "text" },
  dialog,
  measuredVersion: "0.61.0",
  menus: menuKeys(menus),
  // Ctrl-B opens the background shells; Tab gives the keys to a command that runs.
  keys: { alsoAllowed: [], forbidden: ["C-b", "Tab"] },
  commands: SLASH_COMMANDS.gemini,
  // No gate: Gemini queues what arrives during a turn until its end, so typing earlier gains nothing.
  modelCommand: "/model",
  hasShellMode: true,
  foldedPaste: /^\[Pasted Text: \d+ (?:lines|chars)\]$/,
  readScreen: composerReader({
    dialog,
    menus,
    find: (lines) => composerInRules(lines, PROMPT) ?? composerUnderRule(lines, PROMPT),
    hasFooter: isFooter,
    placeholder: /^(?:Type your (?:message|shell command)|Press '(?:Esc|i)' for )/,
    working: { above: /\(esc to cancel, \d/, title: /^[✦⏲]/u },
    interrupted: /^ℹ Request cancelled\.$/u,
    cursor: "left",
  }),
};
