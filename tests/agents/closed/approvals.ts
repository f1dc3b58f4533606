/** The settings that decide when an agent asks for approval: its files, and the mode that its screen names. */
import type { RealAgent } from "../install.ts";

/**
 * The files in which each agent stores its permissions; a folder includes everything in it. `~` is the home, `.` the
 * project.
 */
const FILES: Readonly<Record<RealAgent, readonly string[]>> = {
  cc: ["~/.claude/settings.json", "~/.claude/settings.local.json", "./.claude", "~/.claude.json"],
  codex: ["~/.codex/config.toml", "~/.codex/rules", "~/.codex/hooks.json", "./.codex"],
  gemini: ["~/.gemini/settings.json", "~/.gemini/trustedFolders.json", "~/.gemini/policies", "./.gemini"],
  opencode: [
    "~/.config/opencode/opencode.json",
    "~/.config/opencode/plugin",
    "./opencode.json",
    "./.opencode",
  ],
  copilot: [
    ...["~/.copilot/config.json", "~/.copilot/settings.json", "~/.copilot/permissions-config.json"],
    ...["~/.copilot/mcp-config.json", "~/.copilot/hooks", "./.github"],
  ],
};

/** Lines or keys that allow something, in files that also hold harmless settings. */
const ALLOWING =
  /permission|approv|allow|trust|sandbox|yolo|bypass|hook|policy|rule|trusted_hash|mcp|plugin|disable|mode"/i;

/** Keys that only count how often something was shown, or name what was seen. */
const HARMLESS =
  /tips|seen|shown|count|onboarding|theme|vim|statusline|lastSession|cache|version|model|pluginUsage/i;

async function readAll(path: string): Promise<[string, string][]> {
  const stat = await Deno.stat(path).catch(() => undefined);
  if (stat === undefined) return [];
  if (stat.isFile) return [[path, await Deno.readTextFile(path)]];
  const found: [string, string][] = [];
  for await (const entry of Deno.readDir(path)) found.push(...await readAll(`${path}/${entry.name}`));
  return found.sort();
}

/** Returns the paths and values in a JSON document that allow something, one per line. */
function allowingPaths(value: unknown, path = ""): string[] {
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([name, inner]) => allowingPaths(inner, `${path}.${name}`));
  }
  return ALLOWING.test(path) && !HARMLESS.test(path) ? [`${path} = ${JSON.stringify(value)}`] : [];
}

function allowingLines(text: string): string[] {
  try {
    return allowingPaths(JSON.parse(text)).sort();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return text.split("\n").filter((line) => ALLOWING.test(line) && !HARMLESS.test(line));
}

/** Returns what the agent's files allow, one fact per line: equal results mean that no permission was changed. */
export async function readAllowed(
  kind: RealAgent,
  { home, project }: { home: string; project: string },
): Promise<string[]> {
  const paths = FILES[kind].map((path) => path.replace(/^~/, home).replace(/^\./, project));
  const files = (await Promise.all(paths.map(readAll))).flat();
  return files.flatMap(([path, text]) => allowingLines(text).map((line) => `${path}: ${line}`)).sort();
}

/** Patterns of the mode on each agent's screen. */
const MODES: Readonly<Record<RealAgent, RegExp>> = {
  cc: /(?:⏵⏵|⏸) ?(?:accept edits|plan mode|bypass permissions|auto mode|don't ask)[a-z ]*on/u,
  // Excludes the list of commands, whose explanations use the same words.
  codex: /^(?!› ?\/| {2}\/).*\b(Plan mode|Full access|YOLO mode|Auto-review)\b/m,
  gemini: /\b(?:YOLO|auto-accept edits|accepting edits|plan mode|auto-edit)\b/i,
  opencode: /^.*┃ +(?:Build|Plan)\b|^ +(?:Plan)\b/m,
  copilot: /\b(?:Autopilot|Plan|Assisted \w+|Allow[- ]All|YOLO)(?= ·)/,
};
/** Rows at the bottom of the screen in which an agent names its mode. */
const FOOTER_ROWS = 6;
/** OpenCode's first screen has its input line in the middle. */
const OPENCODE_ROWS = 30;

/** Returns the mode that the screen's last rows name, or "": not every screen names one. */
export function modeOn(kind: RealAgent, lines: readonly string[]): string {
  const end = lines.findLastIndex((line) => line.trim() !== "") + 1;
  const footer = lines.slice(Math.max(0, end - (kind === "opencode" ? OPENCODE_ROWS : FOOTER_ROWS)), end)
    .join("\n");
  const found = MODES[kind].exec(footer);
  return (found?.[1] ?? found?.[0] ?? "").replace(/.*┃/s, "").trim();
}
