/** `svc service`: installs the relay or the listener as a service of systemd or launchd, removes it, and shows its state. */
import { runtime } from "#runtime";
import { forgetService } from "../home/service.ts";
import { defineCommand, parseOptions, runSubcommand } from "./command.ts";
import { EXIT_FAILED, UsageError } from "./exit.ts";
import { shellLine } from "./installation.ts";
import { print, printError, printJson } from "./output.ts";
import { addressInputs, listenerSettings } from "./settings.ts";
import { bringUp, isOwnListener, ownFile, runAll } from "./service/bring_up.ts";
import type { ServiceManager } from "./service/manager.ts";
import { type PlaceOptions, prepare, refuseLowPort, userName } from "./service/plan.ts";
import { allStates, statusLines } from "./service/state.ts";
import { SERVICE_NAMES, type ServiceName, type ServicePlan } from "./service/units.ts";

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
  const name = toName(word);
  const relay = name === "relay" ? await (await import("./server.ts")).checkServerOptions(server) : undefined;
  const placed = await prepare(name, { ...options, server });
  const { plan, manager } = placed;
  await ownFile(manager.file);
  if (options.dryRun) return showPlan(manager);
  await refuseLowPort(plan);
  // Throws as the listener would, before a running one is stopped.
  if (isOwnListener(plan)) listenerSettings(placed.paths, await addressInputs(placed.paths));
  const failure = await bringUp(placed, { relay });
  if (failure !== undefined) {
    printError(failure);
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

function toName(word: string): ServiceName {
  const name = SERVICE_NAMES.find((one) => one === word);
  if (name !== undefined) return name;
  throw new UsageError(
    `Cannot make a service of "${word}": it takes ${SERVICE_NAMES.join(" or ")}. See: svc service --help`,
  );
}

function showPlan({ file, text, enable, restart }: ServiceManager): number {
  print(`# ${file}\n${text}\n# ${[...enable, restart].map(shellLine).join("\n# ")}`);
  return 0;
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
