/** The classes of screens of each agent, with the keys that lead to them and what a profile must read there. */
import { type Expected, idle, menu, OPEN_DIALOG, UNKNOWN } from "./capture.ts";
import type { RealAgent } from "./install.ts";
import { writeFiles } from "./setup/setup.ts";
import type { StartOptions } from "./start_agent.ts";

export type Step =
  | { kind: "press"; keys: string[] }
  | { kind: "type"; text: string }
  | { kind: "paste"; text: string }
  /** Answers the next prompt with this command. */
  | { kind: "shell"; command: string }
  /** Waits for the end of the turn. */
  | { kind: "answered" };

export interface ScreenClass {
  name: string;
  steps: Step[];
  expect: Expected;
  /** Captured on a wide screen too. */
  wide?: true;
  /** The only size at which it is captured. */
  only?: string;
  /** Options of a special start: classes that name the same one share the agent. */
  start?: StartOptions;
  /** No key leaves this screen, so its agent is not used again. */
  isLast?: true;
}

const press = (...keys: string[]): Step => ({ kind: "press", keys });
const type = (text: string): Step => ({ kind: "type", text });
const paste = (text: string): Step => ({ kind: "paste", text });
const ENTER = press("Enter");
const command = (text: string): Step[] => [type(text), ENTER];

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join("\n");
const CHARACTERS = "word ".repeat(1_200).trim();
/** Text that looks like each agent's composer, in a command that the model asks to run. */
const FAKE = [
  "rm -rf build",
  "─".repeat(30),
  "❯ typed",
  "─".repeat(30),
  "  ? for shortcuts",
  "› typed",
  "",
  "  model · /x",
].join("\n");

const EDITOR: StartOptions = { env: { EDITOR: "vi" } };
const PLAIN: StartOptions = { color: "none" };
const FEW_COLORS: StartOptions = { color: "few" };
const VIM: StartOptions = {
  prepare: (home) =>
    writeFiles(home, {
      ".claude/settings.json": { permissions: { defaultMode: "default" }, editorMode: "vim" },
    }),
};

const permission = (name: string, commandText: string): ScreenClass => ({
  name,
  steps: [{ kind: "shell", command: commandText }, paste("clean up"), ENTER],
  expect: OPEN_DIALOG,
});

export const CLASSES: Readonly<Record<RealAgent, readonly ScreenClass[]>> = {
  cc: [
    { name: "start", steps: [], expect: idle(""), wide: true },
    { name: "slash_typed", steps: [type("/model")], expect: idle("/model") },
    { name: "status", steps: command("/status"), expect: OPEN_DIALOG },
    { name: "config", steps: command("/config"), expect: OPEN_DIALOG },
    { name: "usage", steps: command("/usage"), expect: OPEN_DIALOG },
    { name: "plugin", steps: command("/plugin"), expect: OPEN_DIALOG },
    { name: "permissions", steps: command("/permissions"), expect: OPEN_DIALOG },
    { name: "model", steps: command("/model"), expect: menu("model"), wide: true },
    { name: "sessions", steps: command("/resume"), expect: menu("sessions"), wide: true },
    { name: "transcript", steps: [press("C-o")], expect: menu("transcript", null), wide: true },
    { name: "folded", steps: [paste(LINES)], expect: idle("[Pasted text #1 +39 lines]"), wide: true },
    { name: "folded_long", steps: [paste(CHARACTERS)], expect: idle("[Pasted text #2]") },
    { name: "editor", steps: [press("C-g")], expect: UNKNOWN, start: EDITOR, isLast: true, wide: true },
    { name: "agents_view", steps: [press("Left")], expect: UNKNOWN, isLast: true, wide: true },
    {
      name: "vi_insert",
      steps: [type("hello")],
      expect: idle("hello"),
      start: VIM,
    },
    { name: "vi_visual", steps: [press("Escape"), press("v")], expect: UNKNOWN, start: VIM },
    permission("permission_fake", FAKE),
    { name: "suspended", steps: [press("C-z")], expect: UNKNOWN, isLast: true },
  ],
  codex: [
    { name: "start", steps: [], expect: idle(""), wide: true },
    { name: "slash_typed", steps: [type("/model")], expect: idle("/model") },
    { name: "model", steps: command("/model"), expect: menu("model"), wide: true },
    { name: "sessions", steps: command("/resume"), expect: menu("sessions"), wide: true },
    { name: "diff", steps: command("/diff"), expect: menu("diff", null), wide: true },
    { name: "rename", steps: command("/rename"), expect: OPEN_DIALOG },
    { name: "review", steps: command("/review"), expect: OPEN_DIALOG },
    { name: "permissions", steps: command("/permissions"), expect: OPEN_DIALOG },
    { name: "agents", steps: [press("Left")], expect: OPEN_DIALOG },
    {
      name: "folded",
      steps: [paste(CHARACTERS)],
      expect: idle(`[Pasted Content ${CHARACTERS.length} chars]`),
      wide: true,
    },
    {
      name: "draft_tall",
      steps: [paste(LINES)],
      expect: { ...UNKNOWN, draft: LINES.slice(LINES.indexOf("line 27")), cut: true },
      only: "80x24",
    },
    permission("permission_fake", FAKE),
    { name: "editor", steps: [press("C-g")], expect: UNKNOWN, start: EDITOR, isLast: true, wide: true },
  ],
  gemini: [
    { name: "start", steps: [], expect: idle(""), wide: true },
    { name: "slash_typed", steps: [type("/model")], expect: idle("/model") },
    { name: "model", steps: command("/model"), expect: menu("model"), wide: true },
    { name: "settings", steps: command("/settings"), expect: OPEN_DIALOG },
    { name: "theme", steps: command("/theme"), expect: OPEN_DIALOG },
    { name: "auth", steps: command("/auth"), expect: OPEN_DIALOG },
    { name: "folded", steps: [paste(LINES)], expect: idle("[Pasted Text: 40 lines]"), wide: true },
    {
      name: "folded_long",
      steps: [paste(CHARACTERS)],
      expect: idle(`[Pasted Text: ${CHARACTERS.length} chars]`),
    },
    {
      name: "sessions",
      steps: [paste("hello"), ENTER, { kind: "answered" }, ...command("/resume")],
      expect: menu("sessions"),
      wide: true,
    },
    permission("permission_fake", FAKE),
    { name: "start_plain", steps: [], expect: idle(""), start: PLAIN },
    { name: "draft_plain", steps: [type("a thought")], expect: idle("a thought"), start: PLAIN },
    { name: "start_few_colors", steps: [], expect: idle(""), start: FEW_COLORS },
    { name: "draft_few_colors", steps: [type("a thought")], expect: idle("a thought"), start: FEW_COLORS },
    {
      name: "editor",
      steps: [press("C-x"), press("C-g")],
      expect: UNKNOWN,
      start: EDITOR,
      isLast: true,
      wide: true,
    },
  ],
  opencode: [
    { name: "start", steps: [], expect: idle(""), wide: true },
    { name: "slash_typed", steps: [type("/models")], expect: idle("/models") },
    { name: "model", steps: command("/models"), expect: menu("model"), wide: true },
    { name: "sessions", steps: command("/sessions"), expect: menu("sessions"), wide: true },
    { name: "palette", steps: [press("C-p")], expect: OPEN_DIALOG },
    { name: "status", steps: command("/status"), expect: OPEN_DIALOG },
    { name: "themes", steps: command("/themes"), expect: OPEN_DIALOG },
    { name: "help", steps: command("/help"), expect: OPEN_DIALOG },
    { name: "agents", steps: command("/agents"), expect: OPEN_DIALOG },
    { name: "mcps", steps: command("/mcps"), expect: OPEN_DIALOG },
    { name: "folded", steps: [paste(LINES)], expect: idle("[Pasted ~40 lines]"), wide: true },
    { name: "session", steps: [paste("hello"), ENTER, { kind: "answered" }], expect: idle("") },
    { name: "session_model", steps: command("/models"), expect: menu("model") },
    { name: "session_status", steps: command("/status"), expect: OPEN_DIALOG },
    { name: "editor", steps: command("/editor"), expect: UNKNOWN, start: EDITOR, isLast: true, wide: true },
    permission("permission_fake", FAKE),
  ],
  copilot: [
    { name: "start", steps: [], expect: idle(""), wide: true },
    { name: "slash_typed", steps: [type("/model")], expect: idle("/model") },
    { name: "model", steps: command("/model"), expect: menu("model"), wide: true },
    { name: "sessions", steps: command("/resume"), expect: menu("sessions"), wide: true },
    { name: "settings", steps: command("/settings"), expect: OPEN_DIALOG },
    { name: "theme", steps: command("/theme"), expect: OPEN_DIALOG },
    { name: "help", steps: command("/help"), expect: OPEN_DIALOG },
    { name: "mcp", steps: command("/mcp"), expect: OPEN_DIALOG },
    { name: "folded", steps: [paste(LINES)], expect: idle("[Paste #1 - 40 lines]"), wide: true },
    permission("permission_fake", FAKE),
    { name: "editor", steps: [press("C-g")], expect: UNKNOWN, start: EDITOR, isLast: true, wide: true },
    { name: "suspended", steps: [press("C-z")], expect: UNKNOWN, isLast: true },
  ],
};
