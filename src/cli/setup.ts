/** `svc setup`: registers svc's hooks and MCP server with the installed agents, removes them again, and reports what changed. */
import { runtime } from "#runtime";
import { folderOf } from "../runtime/system.ts";
import { errorText } from "../async/error_text.ts";
import { agentProfile } from "../agents/profiles.ts";
import { SETUP_KINDS } from "../agents/registry.ts";
import { withLock } from "../home/lock.ts";
import type { HomePaths } from "../home/paths.ts";
import { makeHome, secureHome } from "../home/permissions.ts";
import {
  type AgentReport,
  type FileAction,
  type FileReport,
  installAgent,
  type InstallOptions,
  isInstalled,
  removeAgent,
  type SetupHost,
  setupOf,
} from "../hooks/setup/install.ts";
import { launcherText, Manifest, writeLauncher } from "../hooks/setup/home_files.ts";
import { AGENT_LABELS, type AgentKind } from "../protocol/names.ts";
import { collect, defineCommand, parseOptions } from "./command.ts";
import { accountPaths, pluginDirectory } from "./context.ts";
import { npxAdvice } from "./installation.ts";
import { type Color, EXIT_FAILED, paint, print, printError, printJson, UsageError } from "./output.ts";

interface SetupOptions {
  agent?: string[] | undefined;
  dryRun?: true | undefined;
  remove?: true | undefined;
  json?: true | undefined;
}

export interface SetupOutcome {
  agents: AgentReport[];
  absent: AgentKind[];
  /** One sentence for each agent that could not be set up. */
  failures: string[];
  /** After a whole removal, the files elsewhere that an earlier setup changed: they may still run svc. */
  left: string[];
}

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "setup",
    summary: "Register svc's hooks and MCP tools with the agents that are installed here.",
    examples: [
      "svc setup --dry-run",
      "svc setup",
      "svc setup --agent codex --agent gemini",
      "svc setup --remove",
    ],
  })
    .option("--agent <kind>", "only this agent; can be repeated", collect)
    .option("--dry-run", "show what would change, and change nothing")
    .option("--remove", "remove what an earlier setup added")
    .option("--json", "print it as JSON");
  const options: SetupOptions = parseOptions(command, args).opts();
  const paths = await accountPaths();
  const host = await setupHost(paths);
  const chosen = await choose(host, options);
  const outcome = await alone(host, options, () => carryOut(host, options, chosen));
  if (options.json) printJson(outcome);
  else {
    const [dryRun, remove] = [options.dryRun ?? false, options.remove ?? false];
    const cached = dryRun || remove ? undefined : npxAdvice(runtime.selfCommand(), `"${paths.launcher}"`);
    if (cached !== undefined) print(paint(cached, "yellow"));
    printSetup(outcome, { dryRun, remove });
  }
  const isDone = outcome.failures.length === 0 && outcome.left.length === 0;
  return isDone && outcome.agents.every(({ isOk }) => isOk) ? 0 : EXIT_FAILED;
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

/** A removal covers every agent, because its program may be gone already. */
async function choose(host: SetupHost, { agent, remove }: SetupOptions): Promise<Choice> {
  const named = (agent ?? []).map(toKind);
  if (remove) return { kinds: named.length > 0 ? named : SETUP_KINDS, absent: [] };
  const found = await Promise.all(SETUP_KINDS.map((kind) => isInstalled(host, kind)));
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

/** Runs `work` while no other setup runs: each would overwrite the other's records of how to undo it. */
async function alone<T>(
  { files, paths }: SetupHost,
  options: SetupOptions,
  work: () => Promise<T>,
): Promise<T> {
  const isFirst = await files.info(paths.root) === undefined;
  if (options.dryRun || (options.remove && isFirst)) return await work();
  await makeHome(files, paths);
  const busy = (): Error =>
    new Error(`Cannot change the agents' settings: another svc setup holds "${paths.setupLock}". Try again.`);
  return await withLock(files, paths.setupLock, { busy, work });
}

async function carryOut(host: SetupHost, options: SetupOptions, chosen: Choice): Promise<SetupOutcome> {
  if (!options.dryRun && !options.remove) await prepareHome(host);
  const outcome = await setUp(host, options, chosen);
  const isWhole = options.remove === true && options.agent === undefined;
  if (isWhole && !options.dryRun && outcome.failures.length === 0) await removeLauncher(host);
  return isWhole ? { ...outcome, left: await filesElsewhere(host) } : outcome;
}

/** Existing files that a setup changed elsewhere: a variable such as CODEX_HOME, set then, moves an agent's files. */
async function filesElsewhere(host: SetupHost): Promise<string[]> {
  const plain = (path: string): string => path.replace(/\/{2,}/g, "/");
  const { paths } = await Manifest.open(host.files, host.paths);
  const setups = await Promise.all(SETUP_KINDS.map((kind) => setupOf(host, kind)));
  const here = setups.flatMap(({ files }) => files.flatMap((edit) => edit.paths.map(plain)));
  const others = paths.filter((path) => !here.includes(plain(path)));
  const found = await Promise.all(others.map((path) => host.files.info(path)));
  return others.filter((_path, place) => found[place] !== undefined);
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

async function setUp(
  host: SetupHost,
  options: SetupOptions,
  { kinds, absent }: Choice,
): Promise<SetupOutcome> {
  const manifest = await Manifest.open(host.files, host.paths);
  const install: InstallOptions = { manifest, dryRun: options.dryRun ?? false };
  const work = options.remove ? removeAgent : installAgent;
  const outcome: SetupOutcome = { agents: [], absent, failures: [], left: [] };
  if (options.agent !== undefined) outcome.failures.push(...absent.map(notInstalled));
  for (const kind of kinds) {
    try {
      outcome.agents.push(await work(host, kind, install));
    } catch (error) {
      outcome.failures.push(errorText(error));
    }
  }
  return outcome;
}

function notInstalled(kind: AgentKind): string {
  const { label, install } = agentProfile(kind);
  return `Cannot set up ${label}: it is not installed here. Install it with: ${install}`;
}

/** Removes the launcher, unless the manifest still lists a file: an agent may then run it. */
async function removeLauncher({ files, paths }: SetupHost): Promise<void> {
  if (!(await Manifest.open(files, paths)).isEmpty) return;
  await files.remove(folderOf(paths.launcher), { recursive: true });
}

interface ReportOptions {
  dryRun: boolean;
  remove: boolean;
}

function printSetup(outcome: SetupOutcome, options: ReportOptions): void {
  const { agents, absent, failures, left } = outcome;
  for (const agent of agents) for (const line of agentLines(agent, options)) print(line);
  if (!options.remove && absent.length > 0) {
    print(paint(`Not found: ${absent.map((kind) => AGENT_LABELS[kind]).join(", ")}`, "dim"));
  }
  for (const failure of failures) printError(failure);
  for (const path of left) printError(`An earlier svc setup also changed ${path}.`);
  if (left.length > 0) printError(ELSEWHERE);
  print(conclusion(outcome, options));
}

function agentLines(agent: AgentReport, { dryRun, remove }: ReportOptions): string[] {
  if (remove && agent.files.length === 0) return [];
  const verb = dryRun ? "Would be trusted on your behalf" : "Trusted on your behalf";
  return [
    paint(agent.label, "bold"),
    ...agent.files.flatMap((file) => fileLines(file, { dryRun })),
    ...agent.trusts.map((trust) => `  ${verb}: ${trust}.`),
    ...agent.notes.map((note) => `  ${paint("→", agent.isOk ? "dim" : "yellow")} ${note}`),
    "",
  ];
}

const DONE: Record<FileAction, string> = {
  create: "created",
  change: "changed",
  keep: "up to date",
  restore: "restored",
  delete: "removed",
};
const PLANNED: Record<FileAction, string> = {
  create: "would be created",
  change: "would be changed",
  keep: "up to date",
  restore: "would be restored",
  delete: "would be removed",
};
const COLORS: Record<string, Color> = { "+": "green", "-": "red" };

function fileLines({ path, action, diff }: FileReport, { dryRun }: { dryRun: boolean }): string[] {
  const head = `  ${path}: ${(dryRun ? PLANNED : DONE)[action]}`;
  if (!dryRun) return [head];
  return [head, ...diff.map((line) => `    ${paint(line, COLORS[line.charAt(0)] ?? "dim")}`)];
}

const ELSEWHERE =
  "It had another environment: set its variables as they were then, such as CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME, GEMINI_CLI_HOME, OPENCODE_CONFIG_DIR or XDG_CONFIG_HOME, and run svc setup --remove again.";

function conclusion({ agents, failures, left }: SetupOutcome, { dryRun, remove }: ReportOptions): string {
  const changed = agents.flatMap(({ files }) => files).filter(({ action }) => action !== "keep").length;
  if (dryRun) return `Nothing was written: ${changed} file(s) would change.`;
  if (changed === 0 && failures.length + left.length > 0) return "Nothing was changed.";
  if (changed === 0) return remove ? "Nothing of svc is left in the agents' files." : "Nothing to change.";
  if (remove) return `Removed svc from ${changed} file(s).`;
  return `Changed ${changed} file(s). Agents that are already running notice it when they restart. To undo it: svc setup --remove`;
}
