/** `svc service`: installs the relay or the listener as a service of systemd or launchd, removes it, and shows its state. */
import { runtime } from "#runtime";
import { daemonEnvironment, STANDBY_OPTION, stopDaemon } from "../home/daemon.ts";
import { absolutePath, type HomePaths } from "../home/paths.ts";
import { forgetService, recordService } from "../home/service.ts";
import { defineCommand, parseOptions, runSubcommand } from "./command.ts";
import { accountPaths, daemonHost } from "./context.ts";
import { EXIT_FAILED, UsageError } from "./exit.ts";
import { shellLine } from "./installation.ts";
import { print, printError, printJson } from "./output.ts";
import { SERVICE_NAMES, type ServiceManager, serviceManager } from "./service/manager.ts";
import { SERVICE_MARK, type ServiceName, type ServicePlan, STATE_DIRECTORY } from "./service/units.ts";

const SERVICE = {
  name: "service",
  summary: "Run the relay or the listener as a service of systemd or launchd: install, remove or status.",
  examples: [
    "svc service install listener",
    "svc service install relay -- --listen 127.0.0.1:7420",
    "svc service status",
    "svc service remove listener",
  ],
} as const;

export async function run(args: readonly string[]): Promise<number> {
  return await runSubcommand(args, { ...SERVICE, subcommands: { install, remove, status } });
}

interface PlaceOptions {
  system?: true | undefined;
  user?: string | undefined;
  dryRun?: true | undefined;
}

const SYSTEM = ["--system", "a service of the machine instead of this account's; needs root"] as const;
const USER = ["--user <name>", "the account of a system service (default: who ran sudo)"] as const;
const DRY_RUN = ["--dry-run", "print the file and the commands, and change nothing"] as const;

async function install(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "service install",
    summary: "Install a service and start it. After --, the arguments of svc server.",
    examples: [
      "svc service install listener",
      "svc service install listener --dry-run",
      "svc service install relay -- --listen 127.0.0.1:7420 --public-url https://relay.example",
      "sudo svc service install relay --system",
    ],
  })
    .argument("<service>", "listener or relay")
    .argument("[options...]", "options of svc server, after --")
    .option(...SYSTEM)
    .option(...USER)
    .option(...DRY_RUN);
  const parsed = parseOptions(command, args);
  const [word, server] = parsed.processedArgs;
  const options: PlaceOptions = parsed.opts();
  const { plan, manager, paths } = await prepare(toName(word), { ...options, server });
  const before = await ownFile(manager.file);
  if (options.dryRun) return showPlan(manager);
  const isChanged = before !== manager.text;
  if (isChanged) await writeFile(manager);
  print(isChanged ? `Wrote ${manager.file}` : `Up to date: ${manager.file}`);
  await handOver(plan, manager, paths);
  const failure = await runAll([...manager.enable, isChanged ? manager.restart : manager.start]);
  if (failure !== undefined) {
    printError(`Cannot start svc's ${plan.name} as a service: ${failure}`);
    return EXIT_FAILED;
  }
  print(`svc's ${plan.name} runs as a service. Its log: ${manager.showLog}`);
  for (const line of await advice(plan)) print(line);
  return 0;
}

async function remove(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "service remove",
    summary: "Stop a service and remove its file. The tmux server, its agents and all data stay.",
    examples: ["svc service remove listener", "sudo svc service remove relay --system"],
  })
    .argument("<service>", "listener or relay")
    .option(...SYSTEM)
    .option(...USER)
    .option(...DRY_RUN);
  const parsed = parseOptions(command, args);
  const options: PlaceOptions = parsed.opts();
  const name = toName(parsed.processedArgs[0]);
  const { plan, manager, paths } = await prepare(name, { ...options, server: [], shown: true });
  if (await ownFile(manager.file) === undefined) {
    print(`No service to remove: there is no ${manager.file}`);
    return 0;
  }
  if (options.dryRun) {
    print([...manager.disable, ["rm", manager.file], ...manager.afterRemoval].map(shellLine).join("\n"));
    return 0;
  }
  const failure = await runAll(manager.disable);
  await runtime.files.remove(manager.file);
  await runAll(manager.afterRemoval);
  if (plan.name === "listener" && !plan.isSystem) await forgetService(runtime.files, paths);
  print(`Removed ${manager.file}`);
  if (failure !== undefined) printError(`The service may still run: ${failure}`);
  return failure === undefined ? 0 : EXIT_FAILED;
}

interface ServiceState {
  service: ServiceName;
  system: boolean;
  file: string;
  running: boolean;
  /** A file that it starts and that is gone. */
  missing: string | null;
  log: string;
}

async function status(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "service status",
    summary: "Show which services are installed, and whether they run.",
    examples: ["svc service status", "svc service status --json"],
  }).option("--json", "print it as JSON").option(...USER);
  const options = parseOptions(command, args).opts();
  const states = await allStates(options);
  if (options.json) printJson(states);
  else for (const line of statusLines(states)) print(line);
  return 0;
}

/** The installed services that start a file that is gone. */
export async function servicesWithMissingFiles(): Promise<ServiceState[]> {
  const states = await allStates({});
  return states.filter(({ missing }) => missing !== null);
}

async function allStates(options: PlaceOptions): Promise<ServiceState[]> {
  const states: ServiceState[] = [];
  for (const service of SERVICE_NAMES) {
    for (const system of [undefined, true] as const) {
      states.push(...await stateOf(service, { ...options, system, server: [], shown: true }));
    }
  }
  return states;
}

async function stateOf(service: ServiceName, options: PlanOptions): Promise<ServiceState[]> {
  const user = options.system ? options.user ?? runtime.env.get("SUDO_USER") ?? userName() : undefined;
  const { manager } = await prepare(service, { ...options, user });
  const text = await runtime.files.readText(manager.file);
  if (!text?.includes(SERVICE_MARK)) return [];
  return [{
    service,
    system: options.system === true,
    file: manager.file,
    running: (await runtime.commands.run(manager.isActive)).code === 0,
    missing: await missingFile(text),
    log: manager.showLog,
  }];
}

function statusLines(states: readonly ServiceState[]): string[] {
  if (states.length === 0) return ["No service is installed. To install one: svc service install listener"];
  return states.flatMap(({ service, system, file, running, missing, log }) => [
    `${service}${system ? " (system)" : ""}: ${running ? "running" : "not running"}, ${file}`,
    `    log: ${log}`,
    ...(missing === null
      ? []
      : [`    → it starts "${missing}", which is gone; run: svc service install ${service}`]),
  ]);
}

/** The first absolute path in what the service starts that no longer exists. */
async function missingFile(text: string): Promise<string | null> {
  const started = /^ExecStart=(.*)$/m.exec(text)?.[1] ?? "";
  const words = started.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g);
  const xml = text.matchAll(/<string>(\/[^<]+)<\/string>/g);
  const paths = [
    ...Array.from(words, ([, quoted, plain]) => quoted ?? plain ?? ""),
    ...Array.from(xml, ([, word = ""]) => word),
  ].filter((word) => /^\/.*\/(deno|node|svc|cli\.[tj]s|deno\.json)$/.test(word));
  for (const path of paths) if (await runtime.files.info(path) === undefined) return path;
  return null;
}

function toName(word: string): ServiceName {
  const name = SERVICE_NAMES.find((one) => one === word);
  if (name !== undefined) return name;
  throw new UsageError(
    `Cannot make a service of "${word}": it takes ${SERVICE_NAMES.join(" or ")}. See: svc service --help`,
  );
}

interface PlanOptions extends PlaceOptions {
  /** Arguments of `svc server`. */
  server: readonly string[];
  /** Nothing is to be installed. */
  shown?: boolean;
}

async function prepare(
  name: ServiceName,
  options: PlanOptions,
): Promise<{ plan: ServicePlan; manager: ServiceManager; paths: HomePaths }> {
  const paths = await accountPaths();
  const plan = planOf(name, options, paths);
  const place = {
    platform: runtime.platform,
    home: runtime.homeDirectory(),
    uid: runtime.uid,
    env: runtime.env.all(),
    log: `${paths.root}/service-${name}.log`,
  };
  return { plan, manager: serviceManager(plan, place), paths };
}

function planOf(name: ServiceName, options: PlanOptions, paths: HomePaths): ServicePlan {
  const isSystem = options.system === true;
  if (options.user !== undefined && !isSystem) {
    throw new UsageError("--user names the account of a system service: add --system.");
  }
  const account = isSystem ? accountOf(name, options.user) : undefined;
  const env = serviceEnvironment(daemonEnvironment(runtime.env.all(), paths));
  const command = runtime.selfCommand();
  if (name === "listener") {
    const argv = [...command, "listener", STANDBY_OPTION];
    return { name, command: argv, isSystem, account, env, data: "" };
  }
  const isMade = isSystem && account === undefined;
  if (isMade && !options.shown) refusePrivate(command);
  const server = options.server.map(fromHere);
  const data = optionValue(server, "--data") ?? (isSystem ? STATE_DIRECTORY : `${paths.root}/server`);
  const withData = server.includes("--data") ? server : [...server, "--data", data];
  const argv = [...command, "server", ...withData];
  const { PATH } = env;
  return {
    name,
    command: argv,
    isSystem,
    account,
    env: PATH === undefined ? {} : { PATH },
    data,
  };
}

/** Undefined: the relay gets an account that systemd makes. */
function accountOf(name: ServiceName, named: string | undefined): string | undefined {
  const account = named ?? (name === "listener" ? runtime.env.get("SUDO_USER") : undefined);
  if (account !== undefined && !/^[\w.-]+\$?$/.test(account)) {
    throw new UsageError(`Cannot use the account "${account}": give the name of a user of this machine.`);
  }
  if (account === undefined && (name === "listener" || runtime.platform === "darwin")) {
    throw new UsageError("A system service needs the account that it runs in: add --user NAME.");
  }
  return account;
}

/** Which of the installing shell's variables the service needs: programs, tmux's socket, svc's home, the locale. */
const KEPT = ["PATH", "SVC_HOME", "SVC_TMUX_SOCKET", "TMUX_TMPDIR", "DENO_DIR", "LANG", "LC_ALL", "LC_CTYPE"];

function serviceEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap((name) => env[name] ? [[name, env[name]]] : []));
}

/** An account of its own cannot read what lies in a user's home. */
function refusePrivate(command: readonly string[]): void {
  const file = command.find((word) => /^\/(home|root|Users)\//.test(word));
  if (file === undefined) return;
  throw new Error(
    `Cannot run "${file}" as a service with an account of its own: it lies in a user's home. Install svc for all users (sudo npm install --global), or name an account with --user.`,
  );
}

/** Options of `svc server` that name a file or a folder. */
const FILE_OPTIONS = ["--data", "--tls-cert", "--tls-key"];

function fromHere(word: string, at: number, all: readonly string[]): string {
  return FILE_OPTIONS.includes(all[at - 1] ?? "") ? absolutePath(word, runtime.cwd()) : word;
}

function optionValue(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

/** The text of the file, or undefined if it does not exist. Throws Error if svc did not write it. */
async function ownFile(path: string): Promise<string | undefined> {
  const text = await runtime.files.readText(path);
  if (text === undefined || text.includes(SERVICE_MARK)) return text;
  throw new Error(`Cannot use "${path}": it exists, and svc did not write it. Move it away first.`);
}

async function writeFile({ file, text }: ServiceManager): Promise<void> {
  await runtime.files.makeDirectory(file.slice(0, file.lastIndexOf("/")));
  await runtime.files.replaceText(file, text, { mode: 0o644 });
}

function showPlan({ file, text, enable, restart }: ServiceManager): number {
  print(`# ${file}\n${text}\n# ${[...enable, restart].map(shellLine).join("\n# ")}`);
  return 0;
}

/** From now on every start of the listener starts the service; a listener that a wrapper started is stopped for it. */
async function handOver(plan: ServicePlan, manager: ServiceManager, paths: HomePaths): Promise<void> {
  if (plan.name !== "listener" || plan.isSystem) return;
  await recordService(runtime.files, paths, { start: [...manager.start] });
  const isService = (await runtime.commands.run(manager.isActive)).code === 0;
  if (!isService && await stopDaemon(daemonHost(), paths)) {
    print("Stopped the listener that ran before.");
  }
}

function userName(): string {
  return runtime.env.get("USER") || runtime.env.get("LOGNAME") || "root";
}

/** What failed, in one line; undefined when nothing did. */
async function runAll(commands: readonly (readonly string[])[]): Promise<string | undefined> {
  for (const argv of commands) {
    const { code, stderr } = await runtime.commands.run(argv);
    if (code !== 0) return `"${shellLine(argv)}" ended with ${code}: ${stderr.trim()}`;
  }
  return undefined;
}

async function advice({ name, isSystem }: ServicePlan): Promise<string[]> {
  const lines: string[] = [];
  const cached = runtime.selfCommand().find((word) => word.includes("/_npx/"));
  if (cached !== undefined) {
    lines.push(`It starts "${cached}", which is in npx's cache: npm may clear that, so install it for good.`);
  }
  if (name === "listener" && isSystem) {
    lines.push("If a listener of this account runs already, the service takes over when that ends.");
  }
  if (runtime.platform !== "linux" || isSystem) return lines;
  const user = userName();
  const lingers = await runtime.files.info(`/var/lib/systemd/linger/${user}`) !== undefined;
  if (!lingers) {
    lines.push(
      `It starts when you log in and ends when you log out, with the agents. To run it from boot on: loginctl enable-linger ${user}`,
    );
  }
  return lines;
}
