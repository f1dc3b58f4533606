/** `svc setup`: registers hooks and MCP server in the agents that are there, and takes them out again. */
import { errorText } from "../async/error_text.ts";
import { runtime } from "#runtime";
import { SETUP_KINDS } from "../agents/registry.ts";
import type { HomePaths } from "../home/paths.ts";
import { secureHome } from "../home/permissions.ts";
import { isThere } from "../hooks/setup/detect.ts";
import { installAgent, type InstallOptions, setupOf } from "../hooks/setup/install.ts";
import { launcherText, writeLauncher } from "../hooks/setup/launcher.ts";
import { Manifest } from "../hooks/setup/manifest.ts";
import { removeAgent } from "../hooks/setup/remove.ts";
import type { AgentReport, SetupHost } from "../hooks/setup/types.ts";
import { AGENT_LABELS, type AgentKind } from "../protocol/names.ts";
import { defineCommand, parseWords } from "./command.ts";
import { accountPaths } from "./context.ts";
import { EXIT_FAILED, UsageError } from "./exit.ts";
import { printJson } from "./output.ts";
import { pluginDirectory } from "./plugin_directory.ts";
import { printSetup } from "./setup_report.ts";

interface SetupWords {
  agent?: string[] | undefined;
  dryRun?: true | undefined;
  remove?: true | undefined;
  json?: true | undefined;
}

export interface SetupOutcome {
  agents: AgentReport[];
  absent: AgentKind[];
  /** One sentence per agent that could not be done. */
  failures: string[];
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "setup",
    summary: "Register svc's hooks and MCP tools in the agents that are installed here.",
    examples: [
      "svc setup --dry-run",
      "svc setup",
      "svc setup --agent codex --agent gemini",
      "svc setup --remove",
    ],
  })
    .option("--agent <kind>", "only this agent; may be repeated", collect)
    .option("--dry-run", "show what would change, and change nothing")
    .option("--remove", "take out what an earlier setup put in")
    .option("--json", "print it as JSON");
  const words: SetupWords = parseWords(command, args).opts();
  const paths = await accountPaths();
  const host = await setupHost(paths);
  const chosen = await choose(host, words);
  if (!words.dryRun && !words.remove) await prepareHome(host);
  const outcome = await setUp(host, words, chosen);
  if (words.remove && !words.dryRun && outcome.failures.length === 0) await leaveHome(host);
  if (words.json) printJson(outcome);
  else printSetup(outcome, { dryRun: words.dryRun ?? false, remove: words.remove ?? false });
  return outcome.failures.length === 0 && outcome.agents.every(({ isOk }) => isOk) ? 0 : EXIT_FAILED;
}

function collect(kind: string, before: string[] = []): string[] {
  return [...before, kind];
}

async function setupHost(paths: HomePaths): Promise<SetupHost> {
  const { files, commands } = runtime;
  const [env, home] = [runtime.env.all(), runtime.homeDirectory()];
  return { files, commands, paths, env, home, plugin: await pluginDirectory() };
}

interface Choice {
  kinds: readonly AgentKind[];
  absent: AgentKind[];
}

/** A removal looks at every agent: its program may be gone already. */
async function choose(host: SetupHost, { agent, remove }: SetupWords): Promise<Choice> {
  const named = (agent ?? []).map(toKind);
  if (remove) return { kinds: named.length > 0 ? named : SETUP_KINDS, absent: [] };
  const found = await Promise.all(SETUP_KINDS.map((kind) => isThere(host, kind)));
  const absent = SETUP_KINDS.filter((kind, at) => !found[at] && (named.length === 0 || named.includes(kind)));
  const wanted = named.length > 0 ? named : SETUP_KINDS;
  return { kinds: wanted.filter((kind) => !absent.includes(kind)), absent };
}

function toKind(word: string): AgentKind {
  const kind = SETUP_KINDS.find((one) => one === word);
  if (kind !== undefined) return kind;
  throw new UsageError(
    `Cannot set up "${word}": the agents are ${SETUP_KINDS.join(", ")}. See: svc setup --help`,
  );
}

async function prepareHome(host: SetupHost): Promise<void> {
  const { files, paths } = host;
  await secureHome(files, { paths, uid: runtime.uid });
  const setups = await Promise.all(SETUP_KINDS.map((kind) => setupOf(host, kind)));
  const backgroundEvents = setups.flatMap((setup) => setup.backgroundEvents ?? []);
  await writeLauncher(
    files,
    paths,
    launcherText(runtime.selfCommand(), { root: paths.root, backgroundEvents }),
  );
}

async function setUp(host: SetupHost, words: SetupWords, { kinds, absent }: Choice): Promise<SetupOutcome> {
  const manifest = await Manifest.open(host.files, host.paths);
  const options: InstallOptions = { manifest, dryRun: words.dryRun ?? false };
  const work = words.remove ? removeAgent : installAgent;
  const outcome: SetupOutcome = { agents: [], absent, failures: [] };
  if (words.agent !== undefined) outcome.failures.push(...absent.map(notInstalled));
  for (const kind of kinds) {
    try {
      outcome.agents.push(await work(host, kind, options));
    } catch (error) {
      outcome.failures.push(errorText(error));
    }
  }
  return outcome;
}

function notInstalled(kind: AgentKind): string {
  return `Cannot set up ${
    AGENT_LABELS[kind]
  }: it is not installed here. See docs/agents.md for its installation.`;
}

/** The launcher stays for as long as an agent may run it. */
async function leaveHome({ files, paths }: SetupHost): Promise<void> {
  if (!(await Manifest.open(files, paths)).isEmpty) return;
  await files.remove(paths.launcher.slice(0, paths.launcher.lastIndexOf("/")), { recursive: true });
}
