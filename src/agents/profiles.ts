/** The profiles of all kinds at once, and which kind a program is, for what sees any of them; with a single kind use loadProfile. */
import type { AgentKind } from "../protocol/names.ts";
import type { AgentProfile } from "./profile.ts";
import { AGENT_KINDS, loadProfile } from "./registry.ts";

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

/** Interpreters that run agents: their name says nothing, the script does. */
const INTERPRETERS: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "deno"]);

const MODULES = "/node_modules/";
/** What a script's or a program's file may add to its name. */
const ENDING = /\.(?:[cm]?js|exe)$/;

/**
 * The agent that a process is. `name` is the program's name as tmux, ps or its file report it; `argv` begins with what the
 * process calls itself, since a file may be named after its version (`claude/versions/2.1.329`). Only the program counts,
 * or the script of an interpreter: any later argument may be anything.
 */
export function agentKindOfProgram(name: string, argv: readonly string[]): AgentKind | undefined {
  const program = baseOf(name);
  return kindOfFile(program, argv) ?? agentKindOfBinary(baseOf(argv[0] ?? ""));
}

function kindOfFile(program: string, argv: readonly string[]): AgentKind | undefined {
  if (!INTERPRETERS.has(program)) return agentKindOfBinary(program);
  const script = argv.slice(1).find((argument) => !argument.startsWith("-"));
  return script === undefined ? undefined : kindOfScript(script) ?? agentKindOfBinary(baseOf(script));
}

function baseOf(path: string): string {
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

/** Whether the npm package is an agent's, or the part of one that is built for a platform. */
export function isAgentPackage(name: string): boolean {
  return AGENT_KINDS.some((kind) => {
    const { npmPackage } = agentProfile(kind);
    return npmPackage !== undefined && name.startsWith(npmPackage);
  });
}
