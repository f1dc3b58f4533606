/** The Copilot command line. */
import { composerInRules, isBlank, lastRow } from "../composer.ts";
import { type AgentProfile, type DialogMarks, menuKeys, type MenuScreen, type Screen } from "../profile.ts";
import { composerReader } from "../read_screen.ts";
import { SLASH_COMMANDS } from "../../protocol/slash_commands.ts";

const dialog: DialogMarks = {
  lines: [
    "[Ee]nter to (select|submit|confirm|continue|save|open)",
    "to navigate",
    "esc (to )?cancel",
    "[0-9][.] (Yes|No)(,| |$)",
    "Confirm folder trust",
  ],
  titles: [],
};

/** More rows than its footer has on a narrow screen. */
const FOOTER_ROWS = 4;
/** The side bar, including its edge. */
const SIDE_BAR = /^[^│]*│/u;

/** The last rows of the screen, without the side bar, after a rule or a blank row, and the rows above them. */
function lastRows({ lines }: Screen): { rows: string[]; above: string[] } {
  const last = lastRow(lines);
  const shown = lines.slice(Math.max(0, last - 2 * FOOTER_ROWS), last + 1).map((line) =>
    line.replace(SIDE_BAR, "")
  );
  let first = shown.length;
  while (first > 0 && !isBlank(shown[first - 1]) && !/^ ?─{10}/u.test(shown[first - 1] ?? "")) first--;
  return { rows: shown.slice(first), above: shown.slice(0, first) };
}

function names(rows: readonly string[], keys: RegExp): boolean {
  return keys.test(rows.map((row) => row.trim()).join(" "));
}

const menus: readonly MenuScreen[] = [
  {
    name: "model",
    keys: ["Enter"],
    isShown(screen) {
      const { rows, above } = lastRows(screen);
      return !screen.cursor.visible && /^ ❯ {1,2}Search models…/u.test(above.at(-2) ?? "") &&
        names(rows, /enter to select · esc to cancel$/u);
    },
  },
  {
    name: "sessions",
    keys: ["Enter"],
    isShown: (screen) =>
      !screen.cursor.visible && /\[Sessions\]/.test(screen.lines[0] ?? "") &&
      names(lastRows(screen).rows, /^\/ search · ↑\/↓ navigate · enter open · /u),
  },
];

export const profile: AgentProfile = {
  kind: "copilot",
  label: "Copilot",
  binary: "copilot",
  offLimits: { settings: ["\\.copilot"], options: ["-p", "--print", "--prompt"] },
  install: "npm install -g @github/copilot",
  npmPackage: "@github/copilot",
  // It asks before each call of an MCP tool, and no configuration file can change that.
  args: ["--allow-tool=svc"],
  resume: ["--continue"],
  env: {},
  ignoresHangup: false,
  typing: { method: "paste", settleMs: 150, spaceAfter: "text" },
  dialog,
  measuredVersion: "1.0.102",
  menus: menuKeys(menus),
  // Tab switches to the other tabs, even with a draft; Left in an empty composer opens the side bar.
  keys: { alsoAllowed: ["C-o"], forbidden: ["Tab"], forbiddenWhenEmpty: ["Left"] },
  commands: SLASH_COMMANDS.copilot,
  // No gate: it queues what arrives during a turn until its end, and drops it when a dialog is rejected with Esc.
  modelCommand: "/model",
  hasShellMode: true,
  foldedPaste: /^\[Paste #\d+ - \d+ lines\]$/,
  readScreen: composerReader({
    dialog,
    menus,
    find: (lines) => composerInRules(lines, { sign: /^([❯>!])(?:\s|$)/u, width: 2 }),
    hasFooter: (footer, { rowsBelow }) =>
      rowsBelow <= 1 && footer.length > 0 && footer.length <= FOOTER_ROWS &&
      /^ \S/.test(footer[0] ?? "") && footer.every((line) => line.startsWith(" ")),
    placeholder:
      /^(?:Execute shell command|Edit queued message|Message th(?:is|e) subagent|Refining your prompt)/,
    argumentHint: /^(\/[\w:-]+) [[<]/,
    working: {
      below: /^[^─]*?[∙∘○◎◉●] \S|\besc(?: esc| again to)? (?:interrupt|edit prompt|stop agents)/u,
    },
    cursor: "placed",
  }),
};
