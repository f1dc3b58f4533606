/** `svc service`: installs, removes or shows the relay or the listener as a service of systemd or launchd. */
import { runtime } from "#runtime";
import { systemClock, waitFor } from "../async/clock.ts";
import { daemonStatus, ensureListener, forgetService, recordService, stopDaemon } from "../home/daemon.ts";
import { hostAndPort, parseListenAddress } from "../relay/server.ts";
import { folderOf, shellLine } from "../runtime/system.ts";
import { defineCommand, parseOptions, runSubcommand } from "./command.ts";
import { EXIT_FAILED, print, printError, printJson, UsageError } from "./output.ts";
import { npxAdvice } from "./installation.ts";
import { addressInputs, listenerSettings } from "./settings.ts";
import {
  type RunState,
  runStateOf,
  SERVICE_MARK,
  SERVICE_NAMES,
  type ServiceName,
  type ServicePlan,
} from "./service/manager.ts";
import {
  allStates,
  type Placed,
  type PlaceOptions,
  prepare,
  refuseLowPort,
  statusLines,
  userName,
} from "./service/plan.ts";
import { daemonHost, daemonOptions } from "./context.ts";

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
  if (name === "listener" && server.length > 0) throw unused(server);
  const relay = name === "relay" ? await (await import("./server.ts")).checkServerOptions(server) : undefined;
  const placed = await prepare(name, { ...options, server });
  const { plan, manager } = placed;
  await ownFile(manager.file);
  if (options.dryRun) return showPlan(placed);
  await refuseLowPort(plan);
  // Throws as the listener would, before a running one is stopped.
  if (isOwnListener(plan)) listenerSettings(placed.paths, await addressInputs(placed.paths));
  await refuseUnreachable(placed);
  return await report(placed, await bringUp(placed, { relay }));
}

/** This folder exists if the machine runs systemd: see sd_booted(3). */
const SYSTEMD_RUNS = "/run/systemd/system";

/** Called before anything is written or stopped. Throws Error if systemd does not answer. */
async function refuseUnreachable(placed: Placed): Promise<void> {
  const why = await unreachable(placed);
  if (why !== undefined) throw new Error(`Cannot install a service, and nothing was changed: ${why}`);
}

/** Why nothing can be installed, and what to do instead; undefined where systemd answers. */
async function unreachable({ plan, manager }: Placed): Promise<string | undefined> {
  const failure = await runAll(manager.reach === undefined ? [] : [manager.reach]);
  if (failure === undefined) return undefined;
  if (await runtime.files.info(SYSTEMD_RUNS) === undefined) {
    return "systemd does not run on this machine. No service is needed: each agent starts the listener, and svc server runs the relay.";
  }
  const fix = plan.isSystem ? "" : '. Log in again instead of "su", or install with --system.';
  return `systemd does not answer: ${failure}${fix}`;
}

async function report(placed: Placed, outcome: Outcome): Promise<number> {
  const { plan, manager } = placed;
  if (outcome.kind === "failed") {
    printError(outcome.why);
    return EXIT_FAILED;
  }
  const connected = outcome.connects ? " and is connected to the relay" : "";
  print(`svc's ${plan.name} runs as a service${connected}. Its log: ${manager.showLog}`);
  for (const line of [...await advice(plan), ...secretLines(placed)]) print(line);
  if (outcome.connects !== false) return 0;
  printError(
    `It has not connected to the relay in ${
      CONNECT_LIMIT_MS / 1_000
    } s, and the listener before it was connected. ` +
      `svc logs says why. To give it more of this shell's environment: ${manager.edit}, then: svc listener --restart`,
  );
  return EXIT_FAILED;
}

/** Where to put the passwords that the service needs. */
function secretLines({ manager, secret }: Placed): string[] {
  return secret.map((name) =>
    `${name} is not in ${manager.file}, as it has a password and every account may read that file. ${manager.keepSecret}`
  );
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
  if (options.json) {
    printJson(states);
    return 0;
  }
  const why = await unreachable(await prepare("listener", { server: [], shown: true }));
  for (const line of statusLines(states, why)) print(line);
  return 0;
}

function toName(word: string): ServiceName {
  const name = SERVICE_NAMES.find((one) => one === word);
  if (name !== undefined) return name;
  throw new UsageError(
    `Cannot make a service of "${word}": it takes ${SERVICE_NAMES.join(" or ")}. See: svc service --help`,
  );
}

function unused(server: readonly string[]): UsageError {
  return new UsageError(
    `Cannot use "${shellLine(server)}" for the listener: what follows -- is for svc server.`,
  );
}

function showPlan(placed: Placed): number {
  const { file, text, enable, restart } = placed.manager;
  print(`# ${file}\n${text}\n# ${[...enable, restart].map(shellLine).join("\n# ")}`);
  for (const line of secretLines(placed)) print(`# ${line}`);
  return 0;
}

async function advice({ name, isSystem }: ServicePlan): Promise<string[]> {
  const cached = npxAdvice(runtime.selfCommand());
  const lines = cached === undefined ? [] : [cached];
  if (name === "listener" && isSystem) {
    lines.push(
      "If a listener of this account is already running, the service takes over when that one ends.",
    );
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

/** How long a start may take on a slow machine. */
const START_LIMIT_MS = 60_000;
/** A service whose process has answered for this long without being replaced counts as running. */
const STEADY_MS = 2_000;
const POLL_MS = 200;
const ANSWER_LIMIT_MS = 2_000;
/** How long a listener that runs may take to connect to the relay. */
const CONNECT_LIMIT_MS = 15_000;

/** Where a plan's relay listens. */
interface RelayAddress {
  listen: string;
  isTls: boolean;
}

/** `connects` is left out where no listener was connected before. */
type Outcome = { kind: "runs"; connects?: boolean } | { kind: "failed"; why: string };

/** Writes the file and starts the service. If a new or changed file does not run, everything is as it was before. */
async function bringUp(
  placed: Placed,
  { relay }: { relay: RelayAddress | undefined },
): Promise<Outcome> {
  const { plan, manager } = placed;
  const former = await formerState(placed);
  const isChanged = former.text !== manager.text;
  if (isChanged) await writeFile(manager.file, manager.text);
  print(isChanged ? `Wrote ${manager.file}` : `Up to date: ${manager.file}`);
  const hasStopped = await handOver(placed, former);
  if (isChanged && former.text !== undefined) await runAll(manager.unload);
  const failure = await runAll([...manager.enable, isChanged ? manager.restart : manager.start]) ??
    await untilRunning(placed, { relay });
  if (failure === undefined) {
    return { kind: "runs", ...(former.isConnected ? { connects: await connects(placed) } : {}) };
  }
  const { stdout } = await runtime.commands.run(manager.lastLog);
  const log = new TextDecoder().decode(stdout).trimEnd();
  if (isChanged) await takeBack(placed, former);
  const restored = hasStopped ? " A listener runs in the background again." : "";
  const kept = isChanged ? `Everything is as it was before.${restored}` : "The service stays installed.";
  const options = { ...daemonOptions(placed.paths), onNotice: print };
  if (isChanged && hasStopped) await ensureListener(daemonHost(), options);
  const why = `Cannot run svc's ${plan.name} as a service: ${failure}${
    log === "" ? "" : `\n${log}`
  }\n${kept}`;
  return { kind: "failed", why };
}

async function connects({ paths }: Placed): Promise<boolean> {
  const isConnected = async (): Promise<true | undefined> =>
    (await daemonStatus(daemonHost(), paths))?.connected || undefined;
  const waiting = { clock: systemClock, limitMs: CONNECT_LIMIT_MS, everyMs: POLL_MS };
  return await waitFor(isConnected, waiting) === true;
}

interface FormerState {
  /** The service's file, if svc wrote one before. */
  text: string | undefined;
  isActive: boolean;
  /** `service.json`. */
  record: string | undefined;
  /** A listener of this account was connected to the relay. */
  isConnected: boolean;
}

async function formerState({ plan, manager, paths }: Placed): Promise<FormerState> {
  const text = await ownFile(manager.file);
  const isActive = text !== undefined && (await runtime.commands.run(manager.isActive)).code === 0;
  const status = isOwnListener(plan) ? await daemonStatus(daemonHost(), paths) : undefined;
  const record = await runtime.files.readText(paths.service);
  return { text, isActive, record, isConnected: status?.connected ?? false };
}

/** The text of the file, or undefined if it does not exist. Throws Error if svc did not write it. */
async function ownFile(path: string): Promise<string | undefined> {
  const text = await runtime.files.readText(path);
  if (text === undefined || text.includes(SERVICE_MARK)) return text;
  throw new Error(`Cannot use "${path}": it exists, and svc did not write it. Move it away first.`);
}

async function writeFile(file: string, text: string): Promise<void> {
  await runtime.files.makeDirectory(folderOf(file));
  await runtime.files.replaceText(file, text, { mode: 0o644 });
}

/** The listener of the account that runs this. */
function isOwnListener({ name, isSystem }: ServicePlan): boolean {
  return name === "listener" && !isSystem;
}

/**
 * From now on every start of the listener starts the service; a listener that a wrapper started is stopped for it.
 * True if one was.
 */
async function handOver({ plan, manager, paths }: Placed, { isActive }: FormerState): Promise<boolean> {
  if (!isOwnListener(plan)) return false;
  await recordService(runtime.files, paths, {
    start: [...manager.start],
    command: [...runtime.selfCommand()],
  });
  if (isActive || !await stopDaemon(daemonHost(), paths)) return false;
  print("Stopped the listener that ran before.");
  return true;
}

async function takeBack({ plan, manager, paths }: Placed, former: FormerState): Promise<void> {
  await runAll(manager.disable);
  if (former.text === undefined) {
    await runtime.files.remove(manager.file);
    await runAll(manager.afterRemoval);
  } else {
    await writeFile(manager.file, former.text);
    await runAll([...manager.enable, ...(former.isActive ? [manager.start] : [])]);
  }
  if (!isOwnListener(plan)) return;
  if (former.record === undefined) await forgetService(runtime.files, paths);
  else await runtime.files.replaceText(paths.service, former.record, { mode: 0o600 });
}

/** Resolves once the same process of the service has answered for a while, or with why it does not. */
async function untilRunning(
  placed: Placed,
  { relay }: { relay: RelayAddress | undefined },
): Promise<string | undefined> {
  const { manager } = placed;
  let since: { pid: number; at: number } | undefined;
  const check = async (): Promise<{ failure: string | undefined } | undefined> => {
    const { stdout } = await runtime.commands.run(manager.showState);
    const state = runStateOf(new TextDecoder().decode(stdout));
    if (state.hasEnded) return { failure: `it ended right after its start. Its log: ${manager.showLog}` };
    if (!await answers(placed, { state, relay })) {
      since = undefined;
      return undefined;
    }
    const now = systemClock.elapsed();
    if (since?.pid !== state.pid) since = { pid: state.pid, at: now };
    return now - since.at >= STEADY_MS ? { failure: undefined } : undefined;
  };
  const found = await waitFor(check, { clock: systemClock, limitMs: START_LIMIT_MS, everyMs: POLL_MS });
  if (found !== undefined) return found.failure;
  return `it does not answer after ${START_LIMIT_MS / 1_000} s. Its log: ${manager.showLog}`;
}

async function answers(
  { plan, paths }: Placed,
  { state, relay }: { state: RunState; relay: RelayAddress | undefined },
): Promise<boolean> {
  if (!state.isActive || state.pid === 0) return false;
  if (isOwnListener(plan)) return (await daemonStatus(daemonHost(), paths))?.pid === state.pid;
  const url = relay && healthUrl(relay);
  if (url === undefined) return true;
  const asked = fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  return await asked.then(async (response) => (await response.text(), response.ok), () => false);
}

/** The health check's URL; undefined with TLS, whose certificate has another name, and if the relay picks a port. */
function healthUrl({ listen, isTls }: RelayAddress): string | undefined {
  const { hostname, port } = parseListenAddress(listen);
  if (isTls || port === 0) return undefined;
  const local = hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname;
  return `http://${hostAndPort({ hostname: local, port })}/healthz`;
}

/** Runs the commands until one fails; returns the failure in one line, or undefined. */
async function runAll(commands: readonly (readonly string[])[]): Promise<string | undefined> {
  for (const argv of commands) {
    const { code, stderr } = await runtime.commands.run(argv);
    if (code !== 0) return `"${shellLine(argv)}" ended with ${code}: ${stderr.trim()}`;
  }
  return undefined;
}
