/** Says which agents are here, and in which version. */
import { agentProfile } from "../../../agents/registry.ts";
import { SETUP_KINDS } from "../../../agents/setup/registry.ts";
import type { SetupHost } from "../../../hooks/setup/types.ts";
import { AGENT_LABELS, type AgentKind } from "../../../protocol/names.ts";
import { type Check, ok } from "../check.ts";

/** An agent that takes longer to tell its version goes without one, in milliseconds. */
const VERSION_LIMIT_MS = 3_000;

export function presenceCheck(host: SetupHost, here: readonly AgentKind[]): Check {
  const absent = SETUP_KINDS.filter((kind) => !here.includes(kind)).map((kind) => AGENT_LABELS[kind]);
  return {
    name: "agents",
    async run() {
      const found = await Promise.all(here.map((kind) => withVersion(host, kind)));
      const all = found.join(", ") || "none";
      return ok(absent.length === 0 ? all : `${all}; not installed: ${absent.join(", ")}`);
    },
  };
}

async function withVersion({ commands, env }: SetupHost, kind: AgentKind): Promise<string> {
  const program = await commands.which(agentProfile(kind).binary);
  if (program === undefined) return AGENT_LABELS[kind];
  const signal = AbortSignal.timeout(VERSION_LIMIT_MS);
  const { stdout } = await commands.run([program, "--version"], { env: { ...env }, signal });
  const version = versionIn(new TextDecoder().decode(stdout));
  return version === undefined ? AGENT_LABELS[kind] : `${AGENT_LABELS[kind]} ${version}`;
}

/** The first number with a dot: some agents put a name before it, or more behind. */
export function versionIn(output: string): string | undefined {
  return /\d+\.\d[\w.+-]*/.exec(output)?.[0];
}
