/** Checks each installed agent: that its hook fires, and that its MCP server lists svc's tools. */
import { runtime } from "#runtime";
import { errorText } from "../../../async/error_text.ts";
import { Mutex } from "../../../async/mutex.ts";
import { codexHooks, isTrusted, withCodexServer } from "../../../agents/codex/trust.ts";
import { agentProfile } from "../../../agents/profiles.ts";
import { loadHooks, SETUP_KINDS } from "../../../agents/registry.ts";
import { type FinishHost, MCP_TOOLS } from "../../../agents/setup.ts";
import type { HomePaths } from "../../../home/paths.ts";
import { isInstalled, planFile, type SetupHost, setupOf } from "../../../hooks/setup/install.ts";
import { Manifest } from "../../../hooks/setup/manifest.ts";
import { AGENT_LABELS, type AgentKind } from "../../../protocol/names.ts";
import { pluginDirectory } from "../../context.ts";
import { type Check, fault, type Finding, ok, warning } from "../check.ts";
import { presenceCheck, versionCheck } from "./presence.ts";
import { type McpProbe, probeHook, type ProbeHost, probeMcp } from "./probe.ts";
import { readRegistration, type Registration } from "./registration.ts";

/** Two checks on which agents are installed, then two for each of those. */
export async function agentChecks(paths: HomePaths): Promise<Check[]> {
  const { files, commands, env } = runtime;
  const place = { env: env.all(), home: runtime.homeDirectory(), plugin: await pluginDirectory() };
  const host: SetupHost = { files, commands, paths, ...place };
  const found = await Promise.all(SETUP_KINDS.map((kind) => isInstalled(host, kind)));
  const here = SETUP_KINDS.filter((_, at) => found[at]);
  const ask = mcpAsker();
  const hooksInTurn = new Mutex();
  return [
    presenceCheck(host, here),
    versionCheck(host, here),
    ...here.flatMap((kind) => [hookCheck(host, kind, hooksInTurn), mcpCheck(host, kind, ask)]),
  ];
}

const fixOf = (kind: AgentKind): string => `run: svc setup --agent ${kind}`;

/** Hooks run `inTurn`, so that a slow machine does not start them all at once and each one late. */
function hookCheck(host: SetupHost, kind: AgentKind, inTurn: Mutex): Check {
  return {
    name: `${AGENT_LABELS[kind]}, hooks`,
    async run() {
      try {
        return await inTurn.run(() => hookFinding(host, kind));
      } catch (error) {
        return fault(errorText(error), `fix that, then ${fixOf(kind)}`);
      }
    },
  };
}

async function hookFinding(host: SetupHost, kind: AgentKind): Promise<Finding> {
  const stale = await staleFiles(host, kind);
  const { hook: command, env } = await readRegistration(host, kind);
  const hooks = await loadHooks(kind);
  if (command === undefined || hooks === undefined) return warning("svc's hooks are not set up", fixOf(kind));
  const [why, distrust] = await Promise.all([
    probeHook(probeHost(host, env), { kind, hooks, command }),
    kind === "codex" ? askCodex(host) : undefined,
  ]);
  if (why !== undefined) return fault(why, fixOf(kind));
  if (distrust !== undefined) return distrust;
  if (stale.length > 0) {
    return warning(`they work; svc setup would change ${stale.join(", ")}`, fixOf(kind));
  }
  return ok(hooks.promptEvent === undefined ? "the command runs" : `${hooks.promptEvent} informs the model`);
}

/** Throws Error when a file cannot be read, naming it. */
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

/** What keeps Codex from running svc's hooks: it runs none that its user has not reviewed. `fix` helps where svc setup can. */
async function codexDistrust(host: FinishHost, fix: string): Promise<Finding | undefined> {
  try {
    const ours = await withCodexServer(host, codexHooks);
    if (ours.length === 0) return fault("they work, but Codex does not know them", fix);
    const open = ours.filter((hook) => !isTrusted(hook));
    if (open.length === 0) return undefined;
    return fault(`they work, but do not run: Codex has not reviewed ${open.length} of ${ours.length}`, fix);
  } catch (error) {
    const finding = `they work; not checked whether Codex trusts them: ${errorText(error)}`;
    return warning(finding, 'start codex once; if it says "Hooks need review", choose to trust them');
  }
}

type AskMcp = (host: ProbeHost, argv: readonly string[]) => Promise<McpProbe>;

/** Most agents register the same command, which is then started once for all of them. */
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
        if (mcp === undefined) return warning("the svc server is not registered", fixOf(kind));
        return judgeTools(await ask(probeHost(host, env), mcp), fixOf(kind));
      } catch (error) {
        return fault(errorText(error), `fix that, then ${fixOf(kind)}`);
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

/** Without `SVC_SESSION`: a probe must not change what phones see of the session in which verify runs. */
function probeHost({ files, commands, paths, env }: SetupHost, more: Registration["env"]): ProbeHost {
  const { SVC_SESSION: _, ...others } = env;
  return { files, commands, paths, env: { ...others, ...more } };
}
