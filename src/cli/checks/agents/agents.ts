/** Checks each installed agent: that its hook fires, that its MCP server lists svc's tools, and that what it and the services start still exists and is this svc. */
import { runtime } from "#runtime";
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { withoutMark } from "../../../async/encodings.ts";
import { errorText } from "../../../async/error_text.ts";
import { Mutex } from "../../../async/mutex.ts";
import { codexHooks, isTrusted, withCodexServer } from "../../../agents/codex/trust.ts";
import { CARDS_ARGUMENT } from "../../../agents/hooks.ts";
import { agentProfile } from "../../../agents/profiles.ts";
import { loadHooks, SETUP_KINDS } from "../../../agents/registry.ts";
import {
  type FileEdit,
  type FinishHost,
  type JsonEdit,
  MCP_SERVER,
  MCP_TOOLS,
  runsSvcHook,
} from "../../../agents/setup.ts";
import type { HomePaths } from "../../../home/paths.ts";
import { isInstalled, pathInUse, planFile, type SetupHost, setupOf } from "../../../hooks/setup/install.ts";
import { commandOf, Manifest } from "../../../hooks/setup/home_files.ts";
import { AGENT_LABELS, type AgentKind } from "../../../protocol/names.ts";
import { shellLine, shellQuote, shellWords } from "../../../runtime/system.ts";
import { pluginDirectory } from "../../context.ts";
import { servicesToFix } from "../../service/plan.ts";
import { type Check, fault, type Finding, ok, warning } from "../check.ts";
import { presenceCheck, versionCheck } from "./presence.ts";
import { type McpProbe, probeHook, type ProbeHost, probeMcp } from "./probe.ts";

/** Two checks on which agents are installed, two on what they and services start, then two for each agent. */
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
    launcherCheck(host),
    servicesCheck,
    ...here.flatMap((kind) => [hookCheck(host, kind, hooksInTurn), mcpCheck(host, kind, ask)]),
  ];
}

const fixOf = (kind: AgentKind): string => `run: svc setup --agent ${kind}`;

/** Hooks run one at a time, so that they do not slow one another down on a slow machine. */
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
  const registration = await readRegistration(host, kind);
  const misplaced = await entryFault(host, kind, { ...registration, mcp: undefined });
  if (misplaced?.mark === "fault") return misplaced;
  const { hook: command, env } = registration;
  const hooks = await loadHooks(kind);
  if (command === undefined || hooks === undefined) return warning("svc's hooks are not set up", fixOf(kind));
  const [why, distrust] = await Promise.all([
    probeHook(probeHost(host, env), { kind, hooks, command }),
    kind === "codex" ? askCodex(host) : undefined,
  ]);
  if (why !== undefined) return fault(why, fixOf(kind));
  if (distrust !== undefined) return distrust;
  if (misplaced !== undefined) return misplaced;
  if (stale.length > 0) return warning(staleText(stale), fixOf(kind));
  return ok(hooks.promptEvent === undefined ? "the command runs" : `${hooks.promptEvent} informs the model`);
}

interface StaleFile {
  path: string;
  before: string | undefined;
  after: string | undefined;
}

/** Hooks in an older form also work, but wait too briefly for a phone to answer the agent's dialogs. */
export function staleText(stale: readonly StaleFile[]): string {
  const isOlder = stale.some(({ before, after }) => waitsForPhones(after) && !waitsForPhones(before));
  const how = isOlder
    ? "they work, in an older form that lets no phone answer the agent's dialogs"
    : "they work";
  return `${how}; svc setup would change ${stale.map(({ path }) => path).join(", ")}`;
}

function waitsForPhones(text: string | undefined): boolean {
  return new RegExp(`[ "]${CARDS_ARGUMENT}"`).test(text ?? "");
}

/** Throws Error when a file cannot be read, naming it. */
async function staleFiles(host: SetupHost, kind: AgentKind): Promise<StaleFile[]> {
  const manifest = await Manifest.open(host.files, host.paths);
  const { files } = await setupOf(host, kind);
  const plans = await Promise.all(files.map((edit) => planFile(host, edit, manifest)));
  return plans.filter(({ before, after }) => before !== after);
}

async function askCodex({ commands, home, env }: SetupHost): Promise<Finding | undefined> {
  const program = await commands.which(agentProfile("codex").binary);
  return program === undefined
    ? undefined
    : await codexDistrust({ commands, program, cwd: home, env }, fixOf("codex"));
}

/** Why Codex does not run svc's hooks: it runs only reviewed ones. `fix` is the advice where svc setup helps. */
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
        const registration = await readRegistration(host, kind);
        const { mcp, env } = registration;
        const misplaced = await entryFault(host, kind, { ...registration, hook: undefined });
        if (misplaced?.mark === "fault") return misplaced;
        if (mcp === undefined) return warning("the svc server is not registered", fixOf(kind));
        const finding = judgeTools(await ask(probeHost(host, env), mcp), fixOf(kind));
        return finding.mark === "ok" ? misplaced ?? finding : finding;
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

/** Leaves out the variables of verify's own pane and session, whose state at the listener a probe must not change. */
function probeHost({ files, commands, paths, env }: SetupHost, more: Registration["env"]): ProbeHost {
  const { SVC_SESSION: _session, TMUX: _tmux, TMUX_PANE: _pane, ...others } = env;
  return { files, commands, paths, env: { ...others, ...more } };
}

export interface Registration {
  /** A shell command line, as the agent runs it. */
  hook: string | undefined;
  mcp: readonly string[] | undefined;
  /** What the agent adds to its environment for both. */
  env: Readonly<Record<string, string>>;
  /** The folder of plugins that the agent reads both from, if it does. */
  plugin?: string | undefined;
}

/** Throws Error when a file does not have its format. */
export async function readRegistration(host: SetupHost, kind: AgentKind): Promise<Registration> {
  const found: Partial<Registration>[] = [];
  const [{ files }, hooks] = await Promise.all([setupOf(host, kind), loadHooks(kind)]);
  const agent = { kind, promptEvent: hooks?.promptEvent };
  for (const edit of files) {
    const text = await host.files.readText(await pathInUse(host.files, edit.paths));
    if (text === undefined) continue;
    const { rest } = withoutMark(text);
    found.push(kind === "cc" ? await inPlugin(host, rest) : inFile(edit, rest, agent));
  }
  const hook = found.find((one) => one.hook !== undefined)?.hook;
  const mcp = found.find((one) => one.mcp !== undefined)?.mcp;
  const plugin = found.find((one) => one.plugin !== undefined)?.plugin;
  return { hook, mcp, env: Object.assign({}, ...found.map(({ env }) => env)), plugin };
}

interface Agent {
  kind: AgentKind;
  promptEvent: string | undefined;
}

function inFile(edit: FileEdit, text: string, agent: Agent): Partial<Registration> {
  switch (edit.form) {
    case "json":
      return inJson(edit, text, agent);
    case "toml":
      return { mcp: argvOf(valueAt(parseToml(text), edit.table)) };
    case "own":
      return { hook: inOwnFile(text, agent.kind) };
  }
}

function inJson(
  { set = [], append = [] }: JsonEdit,
  text: string,
  { promptEvent }: Agent,
): Partial<Registration> {
  const root: unknown = parseJsonc(text, [], { allowTrailingComma: true });
  const hooks = append.filter(({ at }) => at[0] === "hooks");
  const list = hooks.find(({ at }) => at[1] === promptEvent) ?? hooks[0];
  const server = set.find(({ at }) => at.at(-1) === MCP_SERVER);
  return {
    hook: list && hookIn(valueAt(root, list.at)),
    mcp: server && argvOf(valueAt(root, server.at)),
  };
}

/** Finds svc's hook among an event's entries, each of which is a hook or a group of hooks. */
function hookIn(list: unknown): string | undefined {
  const entries: unknown[] = Array.isArray(list) ? list : [];
  const hooks = entries.flatMap((entry) => valueAt(entry, ["hooks"]) ?? entry);
  const ours = hooks.find(runsSvcHook);
  const command = valueAt(ours, ["command"]) ?? valueAt(ours, ["bash"]);
  return typeof command === "string" ? command : undefined;
}

/** The program and its arguments are in one list or in two fields. */
function argvOf(server: unknown): string[] | undefined {
  const argv = [valueAt(server, ["command"]), valueAt(server, ["args"])].flat().filter(isText);
  return argv.length > 0 ? argv : undefined;
}

/** The plugin starts the launcher without a shell. */
function inOwnFile(text: string, kind: AgentKind): string | undefined {
  const launcher = /^const LAUNCHER = "(.*)";$/m.exec(text)?.[1];
  return launcher && `${shellQuote(String(JSON.parse(`"${launcher}"`)))} remote-hook ${kind}`;
}

/** The primary agent reads the plugin from where its settings point. */
async function inPlugin({ files }: SetupHost, settings: string): Promise<Partial<Registration>> {
  const root: unknown = parseJsonc(settings, [], { allowTrailingComma: true });
  const market = valueAt(root, ["extraKnownMarketplaces", "svc-market", "source", "path"]);
  const isEnabled = valueAt(root, ["enabledPlugins", "svc@svc-market"]) === true;
  if (!isEnabled || !isText(market)) return {};
  const plugin = `${market}/svc`;
  const read = async (name: string): Promise<unknown> =>
    parseJsonc(await files.readText(`${plugin}/${name}`) ?? "{}");
  const [hooks, mcp] = await Promise.all([read("hooks/hooks.json"), read(".mcp.json")]);
  const filled = (text: string): string => text.replaceAll("${CLAUDE_PLUGIN_ROOT}", plugin);
  const hook = valueAt(hooks, ["hooks", "UserPromptSubmit", "0", "hooks", "0", "command"]);
  return {
    hook: isText(hook) ? hook : undefined,
    mcp: argvOf(valueAt(mcp, ["mcpServers", MCP_SERVER]))?.map(filled),
    env: { CLAUDE_PLUGIN_ROOT: plugin },
    plugin: market,
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? Reflect.get(value, name)
        : undefined,
    root,
  );
}

const SET_UP = "run: svc setup";

/** The launcher, which the entries of all agents run. */
function launcherCheck({ files, paths }: SetupHost): Check {
  return {
    name: "hooks and tools",
    async run() {
      const text = await files.readText(paths.launcher);
      if (text === undefined) return ok("svc is set up in no agent");
      const command = commandOf(text);
      if (command === undefined) return warning(`"${paths.launcher}" is not as svc setup wrote it`, SET_UP);
      const gone = await missingFile(command);
      if (gone !== undefined) {
        return fault(`"${paths.launcher}" runs "${gone}", which no longer exists`, SET_UP);
      }
      return judgeCommand(command, runtime.selfCommand());
    },
  };
}

export function judgeCommand(command: readonly string[], own: readonly string[]): Finding {
  const isSame = command.length === own.length && command.every((word, at) => word === own[at]);
  if (isSame) return ok("agents run this svc");
  return warning(
    `agents run another svc, "${shellLine(command)}"; this one is "${shellLine(own)}"`,
    `${SET_UP}, with the svc that they should run`,
  );
}

/** The commands and the plugin that an agent's files name. */
interface AgentEntries {
  /** A shell command line. */
  hook: string | undefined;
  mcp: readonly string[] | undefined;
  /** The folder of plugins. */
  plugin?: string | undefined;
}

/** What is wrong with the commands in an agent's entries; undefined when they run this account's launcher. */
async function entryFault(
  host: SetupHost,
  kind: AgentKind,
  { hook, mcp, plugin }: AgentEntries,
): Promise<Finding | undefined> {
  const fix = `${SET_UP} --agent ${kind}`;
  const label = AGENT_LABELS[kind];
  if (plugin !== undefined && plugin !== host.plugin) {
    const isThere = await host.files.info(plugin) !== undefined;
    return isThere
      ? warning(`${label} uses the plugin of another svc, "${plugin}"; this one's is "${host.plugin}"`, fix)
      : fault(`${label} uses the plugin in "${plugin}", which no longer exists`, fix);
  }
  const entries = { hook: hook === undefined ? [] : shellWords(hook), "MCP entry": mcp ?? [] };
  for (const [what, words] of Object.entries(entries)) {
    const gone = await missingFile(words);
    if (gone !== undefined) return fault(`its ${what} runs "${gone}", which no longer exists`, fix);
    const other = words.find((word) => word.endsWith("/bin/svc") && word !== host.paths.launcher);
    if (other !== undefined) {
      return warning(`its ${what} runs another svc, "${other}"; this one's is "${host.paths.launcher}"`, fix);
    }
  }
  return undefined;
}

async function missingFile(words: readonly string[]): Promise<string | undefined> {
  for (const word of words) {
    if (word.startsWith("/") && await runtime.files.info(word) === undefined) return word;
  }
  return undefined;
}

const servicesCheck: Check = {
  name: "services",
  async run() {
    try {
      const [first] = await servicesToFix();
      if (first === undefined) return ok("none starts a file that is gone, or another svc");
      const { service, missing, other, install } = first;
      return missing === null
        ? warning(`the ${service}'s service starts another svc: ${other}`, `to use this one, run: ${install}`)
        : fault(`the ${service}'s service starts "${missing}", which no longer exists`, `run: ${install}`);
    } catch (error) {
      return warning(`not checked: ${errorText(error)}`, "see: svc service status");
    }
  },
};
