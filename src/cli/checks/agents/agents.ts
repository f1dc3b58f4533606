/** Checks each agent that is here: that its hook fires, and that its MCP server lists svc's tools. */
import { errorText } from "../../../async/error_text.ts";
import { runtime } from "#runtime";
import { agentProfile } from "../../../agents/profiles.ts";
import { loadHooks, SETUP_KINDS } from "../../../agents/registry.ts";
import { MCP_TOOLS } from "../../../agents/setup.ts";
import type { HomePaths } from "../../../home/paths.ts";
import { isThere } from "../../../hooks/setup/detect.ts";
import { planFile, setupOf } from "../../../hooks/setup/install.ts";
import { Manifest } from "../../../hooks/setup/manifest.ts";
import type { SetupHost } from "../../../hooks/setup/types.ts";
import { AGENT_LABELS, type AgentKind } from "../../../protocol/names.ts";
import { pluginDirectory } from "../../plugin_directory.ts";
import { type Check, fault, type Finding, ok, warning } from "../check.ts";
import { codexDistrust } from "./codex_trust.ts";
import { presenceCheck, versionCheck } from "./presence.ts";
import { probeHook, type ProbeHost } from "./probe_hook.ts";
import { type McpProbe, probeMcp } from "./probe_mcp.ts";
import { readRegistration, type Registration } from "./registration.ts";

/** The checks for agents: two for which ones are installed, then two for each of those. */
export async function agentChecks(paths: HomePaths): Promise<Check[]> {
  const { files, commands, env } = runtime;
  const place = { env: env.all(), home: runtime.homeDirectory(), plugin: await pluginDirectory() };
  const host: SetupHost = { files, commands, paths, ...place };
  const found = await Promise.all(SETUP_KINDS.map((kind) => isThere(host, kind)));
  const here = SETUP_KINDS.filter((_, at) => found[at]);
  const ask = mcpAsker();
  return [
    presenceCheck(host, here),
    versionCheck(host, here),
    ...here.flatMap((kind) => [hookCheck(host, kind), mcpCheck(host, kind, ask)]),
  ];
}

const fixOf = (kind: AgentKind): string => `run: svc setup --agent ${kind}`;

function hookCheck(host: SetupHost, kind: AgentKind): Check {
  return {
    name: `${AGENT_LABELS[kind]}, hooks`,
    async run() {
      try {
        return await hookFinding(host, kind);
      } catch (error) {
        return fault(errorText(error), `mend that, then ${fixOf(kind)}`);
      }
    },
  };
}

async function hookFinding(host: SetupHost, kind: AgentKind): Promise<Finding> {
  const stale = await staleFiles(host, kind);
  const { hook: command, env } = await readRegistration(host, kind);
  const hooks = await loadHooks(kind);
  if (command === undefined || hooks === undefined) return warning("svc's are not set up", fixOf(kind));
  const [why, distrust] = await Promise.all([
    probeHook(probeHost(host, env), { kind, hooks, command }),
    kind === "codex" ? askCodex(host) : undefined,
  ]);
  if (why !== undefined) return fault(why, fixOf(kind));
  if (distrust !== undefined) return distrust;
  if (stale.length > 0) {
    return warning(`they work; svc setup would change ${stale.join(", ")}`, fixOf(kind));
  }
  return ok(hooks.promptEvent === undefined ? "the command runs" : `${hooks.promptEvent} tells the model`);
}

/** Throws Error that names a file which cannot be read. */
async function staleFiles(host: SetupHost, kind: AgentKind): Promise<string[]> {
  const manifest = await Manifest.open(host.files, host.paths);
  const { files } = await setupOf(host, kind);
  const plans = await Promise.all(files.map((edit) => planFile(host, edit, manifest)));
  return plans.filter(({ before, after }) => before !== after).map(({ path }) => path);
}

async function askCodex({ commands, home, env }: SetupHost): Promise<Finding | undefined> {
  const program = await commands.which(agentProfile("codex").binary);
  return program === undefined
    ? undefined
    : await codexDistrust({ commands, program, cwd: home, env }, fixOf("codex"));
}

type AskMcp = (host: ProbeHost, argv: readonly string[]) => Promise<McpProbe>;

/** Most agents register the same command: it is started once for all of them. */
function mcpAsker(): AskMcp {
  const asked = new Map<string, Promise<McpProbe>>();
  return (host, argv) => {
    const key = JSON.stringify(argv);
    const probe = asked.get(key) ?? probeMcp(host, argv);
    asked.set(key, probe);
    return probe;
  };
}

function mcpCheck(host: SetupHost, kind: AgentKind, ask: AskMcp): Check {
  return {
    name: `${AGENT_LABELS[kind]}, MCP`,
    async run() {
      try {
        const { mcp, env } = await readRegistration(host, kind);
        if (mcp === undefined) return warning("the server svc is not registered", fixOf(kind));
        return judgeTools(await ask(probeHost(host, env), mcp), fixOf(kind));
      } catch (error) {
        return fault(errorText(error), `mend that, then ${fixOf(kind)}`);
      }
    },
  };
}

export function judgeTools(probe: McpProbe, fix: string): Finding {
  if ("why" in probe) return fault(probe.why, fix);
  const missing = MCP_TOOLS.filter((tool) => !probe.tools.includes(tool));
  if (missing.length > 0) return fault(`its tools lack ${missing.join(", ")}`, fix);
  return ok(`it lists ${MCP_TOOLS.join(", ")}`);
}

/** Without `SVC_SESSION`: a probe must not change what the phones see of the session that it runs in. */
function probeHost({ files, commands, paths, env }: SetupHost, more: Registration["env"]): ProbeHost {
  const { SVC_SESSION: _, ...others } = env;
  return { files, commands, paths, env: { ...others, ...more } };
}
