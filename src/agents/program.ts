/** Recognizes a known agent by the program that runs in a pane. */
import type { AgentKind } from "../protocol/names.ts";
import { AGENT_KINDS, agentProfile } from "./registry.ts";

/** Interpreters that agents are run by: the name tells nothing, the script does. */
const INTERPRETERS: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "deno"]);

/** The package of an agent, as it stands in the path of its script. */
const PACKAGES: Readonly<Partial<Record<string, AgentKind>>> = {
  "@anthropic-ai/claude-code": "cc",
  "@openai/codex": "codex",
  "@google/gemini-cli": "gemini",
  "opencode-ai": "opencode",
  "@github/copilot": "copilot",
};

const MODULES = "/node_modules/";
/** What a path may end in beside the program's name. */
const SCRIPT_ENDING = /\.(?:c|m)?js$/;

/**
 * The agent that a process is. `name` is the program's name as tmux or ps give it, `argv` its words with the program as
 * the first. Only the program counts, and for an interpreter its script: a word further on is somebody's argument.
 */
export function agentKindOfProgram(name: string, argv: readonly string[]): AgentKind | undefined {
  const program = baseOf(name);
  if (!INTERPRETERS.has(program)) return kindOfBinary(program);
  const script = argv.slice(1).find((word) => !word.startsWith("-"));
  return script === undefined ? undefined : kindOfPackage(script) ?? kindOfBinary(baseOf(script));
}

function baseOf(path: string): string {
  return (path.split("/").at(-1) ?? "").replace(/^-/, "").replace(SCRIPT_ENDING, "");
}

/** The echo agent is svc itself, which runs other things too. */
function kindOfBinary(name: string): AgentKind | undefined {
  return AGENT_KINDS.find((kind) => kind !== "echo" && agentProfile(kind).binary === name);
}

function kindOfPackage(path: string): AgentKind | undefined {
  const start = path.lastIndexOf(MODULES);
  const [scope = "", name = ""] = start < 0 ? [] : path.slice(start + MODULES.length).split("/");
  return PACKAGES[scope.startsWith("@") ? `${scope}/${name}` : scope];
}
