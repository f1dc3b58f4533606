/** The profiles of all agents (for one, use loadProfile) and of an unknown one, the kind of a program, and versions. */
import type { AgentKind } from "../protocol/names.ts";
import type { AgentProfile, DialogMarks, Screen, ScreenReading } from "./profile.ts";
import { AGENT_KINDS, loadProfile } from "./registry.ts";
import { compiledMarks, isOversized } from "./read_screen.ts";

const profiles = new Map(
  await Promise.all(AGENT_KINDS.map(async (kind) => [kind, await loadProfile(kind)] as const)),
);

export function agentProfile(kind: AgentKind): AgentProfile {
  const profile = profiles.get(kind);
  if (profile === undefined) {
    throw new TypeError(`Cannot find the profile of "${kind}": no such kind of agent.`);
  }
  return profile;
}

/** Interpreters that run agents: the script's name identifies the agent. */
const INTERPRETERS: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "deno"]);

const MODULES = "/node_modules/";
/** Extensions of a script's or a program's file. */
const ENDING = /\.(?:[cm]?js|exe)$/;

/**
 * The agent that a process is. `name` is the program's name as tmux, ps or its file report it; `argv` begins with what
 * the process calls itself, since a file may be named after its version (`claude/versions/2.1.329`). Only the program,
 * or the script of an interpreter, is considered: a later argument may be anything.
 */
export function agentKindOfProgram(name: string, argv: readonly string[]): AgentKind | undefined {
  const program = programName(name);
  return kindOfFile(program, argv) ?? agentKindOfBinary(programName(argv[0] ?? ""));
}

function kindOfFile(program: string, argv: readonly string[]): AgentKind | undefined {
  if (!INTERPRETERS.has(program)) return agentKindOfBinary(program);
  const script = argv.slice(1).find((argument) => !argument.startsWith("-"));
  return script === undefined ? undefined : kindOfScript(script) ?? agentKindOfBinary(programName(script));
}

/** The name of the program or script at this path; a login shell's begins with a dash. */
export function programName(path: string): string {
  return (path.split("/").at(-1) ?? "").replace(/^-/, "").replace(ENDING, "");
}

/** The agent whose program has this name. The echo agent is svc itself, which runs other things too. */
export function agentKindOfBinary(name: string): AgentKind | undefined {
  return AGENT_KINDS.find((kind) => kind !== "echo" && agentProfile(kind).binary === name);
}

function kindOfScript(path: string): AgentKind | undefined {
  const start = path.lastIndexOf(MODULES);
  if (start < 0) return undefined;
  const [scope = "", name = ""] = path.slice(start + MODULES.length).split("/");
  const found = scope.startsWith("@") ? `${scope}/${name}` : scope;
  return AGENT_KINDS.find((kind) => agentProfile(kind).npmPackage === found);
}

/** Whether the npm package is an agent's, or its part for one platform. */
export function isAgentPackage(name: string): boolean {
  return AGENT_KINDS.some((kind) => {
    const { npmPackage } = agentProfile(kind);
    return npmPackage !== undefined && name.startsWith(npmPackage);
  });
}

/** The dialogs of all agents but the echo agent, whose dialog is unlike any other. */
const knownDialogs = AGENT_KINDS.filter((kind) => kind !== "echo").map((kind) => agentProfile(kind).dialog);

const anyDialog: DialogMarks = {
  lines: [...new Set(knownDialogs.flatMap(({ lines }) => lines))],
  titles: [...new Set(knownDialogs.flatMap(({ titles }) => titles))],
};

const anyMarks = compiledMarks(anyDialog);

/**
 * For a pane that no wrapper created: text is typed as plain keys, and the screen is only searched for the dialogs of
 * all agents. It has no kind, only the fields for typing and reading.
 */
export const unknownAgent: Pick<
  AgentProfile,
  "typing" | "dialog" | "menus" | "keys" | "commands" | "readScreen"
> = {
  typing: { method: "plain", settleMs: 150, spaceAfter: "none" },
  dialog: anyDialog,
  menus: {},
  keys: { alsoAllowed: [], forbidden: [] },
  commands: [],
  readScreen(screen: Screen): ScreenReading {
    const open = !isOversized(screen) && !screen.applicationKeys && anyMarks.onScreen(screen);
    return { state: open ? "waiting" : undefined, focus: open ? "dialog" : "unknown", draft: undefined };
  },
};

/** Numbers with dots, and what may follow: `1.2.3`, `2025.09.18-7ae6800`, `1.2.3-beta.1`. */
const VERSION = /\b(\d+(?:\.\d+){1,3})(-[0-9A-Za-z][0-9A-Za-z.-]*)?/;

/** The version number in the output of `--version`, such as `2.1.329 (Claude Code)`; undefined if it has none. */
export function parseVersion(output: string): string | undefined {
  const [found] = VERSION.exec(output.slice(0, OUTPUT_CHARACTERS)) ?? [];
  return found?.replace(/[.-]+$/, "");
}

/** More than any agent prints. */
const OUTPUT_CHARACTERS = 1_000;

/**
 * Negative if `left` is older than `right`, positive if it is newer. Missing numbers count as 0; a version with a suffix
 * is older than the same version without it. Undefined if either is not a version.
 */
export function compareVersions(left: string, right: string): number | undefined {
  const [one, other] = [partsOf(left), partsOf(right)];
  if (one === undefined || other === undefined) return undefined;
  const length = Math.max(one.numbers.length, other.numbers.length);
  for (let at = 0; at < length; at++) {
    const difference = (one.numbers[at] ?? 0) - (other.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return Number(other.hasAddition) - Number(one.hasAddition);
}

/** Whether the agent is newer than the version on which its profile was measured; false if either is unknown. */
export function isNewerThanMeasured(version: string | undefined, measured: string): boolean {
  return version !== undefined && (compareVersions(version, measured) ?? 0) > 0;
}

function partsOf(version: string): { numbers: number[]; hasAddition: boolean } | undefined {
  const [, numbers, addition] = VERSION.exec(version) ?? [];
  if (numbers === undefined) return undefined;
  return { numbers: numbers.split(".").map(Number), hasAddition: addition !== undefined };
}
