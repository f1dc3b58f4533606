/** Plans what `svc service` installs, from the environment and the command line, and reads the state of services. */
import { runtime } from "#runtime";
import { daemonEnvironment, STANDBY_OPTION } from "../../home/daemon.ts";
import { absolutePath, type HomePaths } from "../../home/paths.ts";
import { NETWORK_VARIABLES, PROXY_VARIABLES, shellLine } from "../../runtime/system.ts";
import { accountPaths, ownEnvironment } from "../context.ts";
import { UsageError } from "../output.ts";
import {
  accountIn,
  SERVICE_MARK,
  SERVICE_NAMES,
  type ServiceManager,
  serviceManager,
  type ServiceName,
  type ServicePlan,
  startedWords,
  STATE_DIRECTORY,
} from "./manager.ts";

export interface PlaceOptions {
  system?: true | undefined;
  user?: string | undefined;
  dryRun?: true | undefined;
}

interface PlanOptions extends PlaceOptions {
  /** Arguments of `svc server`. */
  server: readonly string[];
  /** Nothing will be installed, only shown or removed. */
  shown?: boolean;
}

/** A service with its place on this machine. */
export interface Placed {
  plan: ServicePlan;
  manager: ServiceManager;
  paths: HomePaths;
  /** Variables that are left out of the service's file, because their values have a password. */
  secret: readonly string[];
}

export async function prepare(name: ServiceName, options: PlanOptions): Promise<Placed> {
  const paths = await accountPaths();
  const { env, secret } = serviceEnvironment(daemonEnvironment(ownEnvironment(), paths));
  const plan = planOf(name, options, { paths, env });
  const place = {
    platform: runtime.platform,
    home: runtime.homeDirectory(),
    uid: runtime.uid,
    env: runtime.env.all(),
    log: `${paths.root}/service-${name}.log`,
    listenerLog: paths.log,
  };
  const isListener = name === "listener";
  return { plan, manager: serviceManager(plan, place), paths, secret: isListener ? secret : [] };
}

function planOf(
  name: ServiceName,
  options: PlanOptions,
  { paths, env }: { paths: HomePaths; env: Readonly<Record<string, string>> },
): ServicePlan {
  const isSystem = options.system === true;
  if (options.user !== undefined && !isSystem) {
    throw new UsageError("--user names the account of a system service: add --system.");
  }
  const account = isSystem ? accountOf(name, options.user) : undefined;
  if (account !== undefined && !options.shown) refuseUnwritable(account);
  const command = runtime.selfCommand();
  if (name === "listener") {
    const argv = [...command, "listener", STANDBY_OPTION];
    return { name, command: argv, isSystem, account, env, data: "", hasLowPort: false };
  }
  const isMade = isSystem && account === undefined;
  if (isMade && !options.shown) refusePrivate(command);
  const server = options.server.flatMap(asTwoWords).map(fromHere);
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
    hasLowPort: isLowPort(optionValue(server, "--listen")),
  };
}

/** The account of a system service; undefined if systemd creates one for the relay. */
function accountOf(name: ServiceName, named: string | undefined): string | undefined {
  const account = named ?? (name === "listener" ? runtime.env.get("SUDO_USER") : undefined);
  if (account === undefined && (name === "listener" || runtime.platform === "darwin")) {
    throw new UsageError("A system service needs the account that it runs in: add --user NAME.");
  }
  return account;
}

/** Throws UsageError for a user's name that no unit accepts, such as `CORP\alice`. Not called to show services. */
function refuseUnwritable(account: string): void {
  if (/^[\w.@+-]+\$?$/.test(account)) return;
  throw new UsageError(
    `Cannot use the account "${account}": a service's file takes letters from A to Z, digits and . _ @ + - only. Name another account with --user.`,
  );
}

/** The installing shell's variables that the service needs: programs, tmux's socket, svc's home, locale and network. */
const KEPT = [
  ...["PATH", "SVC_HOME", "SVC_TMUX_SOCKET", "TMUX_TMPDIR", "DENO_DIR", "LANG", "LC_ALL", "LC_CTYPE"],
  ...NETWORK_VARIABLES,
];

/** Separates variables with a password, because every account may read the service's file. */
function serviceEnvironment(
  env: Readonly<Record<string, string>>,
): { env: Record<string, string>; secret: string[] } {
  const isSecret = (name: string): boolean =>
    PROXY_VARIABLES.includes(name) && (env[name] ?? "").includes("@");
  const [secret, open] = [KEPT.filter(isSecret), KEPT.filter((name) => !isSecret(name))];
  return { env: Object.fromEntries(open.flatMap((name) => env[name] ? [[name, env[name]]] : [])), secret };
}

/** Throws Error for a program in a user's home, which an account of the service's own cannot read. */
function refusePrivate(command: readonly string[]): void {
  const file = command.find((word) => /^\/(home|root|Users)\//.test(word));
  if (file === undefined) return;
  throw new Error(
    `Cannot run "${file}" as a service with an account of its own: it is in a user's home. Install svc for all users (sudo npm install --global), or name an account with --user.`,
  );
}

/** Options of `svc server` that name a file or a folder. */
const FILE_OPTIONS = ["--data", "--tls-cert", "--tls-key", "--nats-creds", "--nats-ca"];

/** `--data=here` as `--data here`. */
function asTwoWords(word: string): string[] {
  const [, option, value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
  return option === undefined || value === undefined ? [word] : [option, value];
}

const LOW_PORTS = 1024;

function portOf(listen: string | undefined): number {
  return Number(/:(\d+)$/.exec(listen ?? "")?.[1] ?? 0);
}

function isLowPort(listen: string | undefined): boolean {
  const port = portOf(listen);
  return port > 0 && port < LOW_PORTS;
}

/** Throws a UsageError with advice if an account's own service would need a low port, which it may not use. */
export async function refuseLowPort({ isSystem, hasLowPort, command }: ServicePlan): Promise<void> {
  if (isSystem || !hasLowPort || runtime.platform !== "linux" || runtime.uid === 0) return;
  const text = await runtime.files.readText("/proc/sys/net/ipv4/ip_unprivileged_port_start");
  const port = portOf(optionValue(command, "--listen"));
  if (port >= Number(text ?? LOW_PORTS)) return;
  throw new UsageError(
    `Cannot listen on port ${port} as this account's service: add --system, or take another port and put a reverse proxy in front.`,
  );
}

function fromHere(word: string, at: number, all: readonly string[]): string {
  return FILE_OPTIONS.includes(all[at - 1] ?? "") ? absolutePath(word, runtime.cwd()) : word;
}

function optionValue(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

export function userName(): string {
  return runtime.env.get("USER") || runtime.env.get("LOGNAME") || "root";
}

export interface ServiceState {
  service: ServiceName;
  system: boolean;
  file: string;
  running: boolean;
  /** A file that it starts and that is gone. */
  missing: string | null;
  /** Another svc that it starts. */
  other: string | null;
  /** The command that rewrites its file for this svc. */
  install: string;
  log: string;
}

/** The installed services that start a file that is gone, or another svc. */
export async function servicesToFix(): Promise<ServiceState[]> {
  const states = await allStates({});
  return states.filter(({ missing, other }) => missing !== null || other !== null);
}

function installLine(
  service: ServiceName,
  { system, words, user }: { system: boolean; words: readonly string[]; user: string | undefined },
): string {
  const at = words.indexOf("server");
  const server = service === "relay" && at >= 0 ? words.slice(at + 1) : [];
  const place = system ? ["--system", ...(user === undefined ? [] : ["--user", user])] : [];
  return shellLine([
    "svc",
    "service",
    "install",
    service,
    ...place,
    ...(server.length > 0 ? ["--", ...server] : []),
  ]);
}

export async function allStates(options: PlaceOptions): Promise<ServiceState[]> {
  const states: ServiceState[] = [];
  for (const service of SERVICE_NAMES) {
    for (const system of [undefined, true] as const) {
      states.push(...await stateOf(service, { ...options, system, server: [], shown: true }));
    }
  }
  return states;
}

/** The commands that restart the relays running as services of this svc, on the installed version. */
export async function relayRestarts(): Promise<{ argv: readonly string[]; needsRoot: boolean }[]> {
  const relays = (await allStates({})).filter(({ service, running, other, missing }) =>
    service === "relay" && running && other === null && missing === null
  );
  return await Promise.all(relays.map(async ({ service, system }) => {
    const place = system ? { system, user: someUser() } : {};
    const { manager } = await prepare(service, { ...place, server: [], shown: true });
    return { argv: manager.restart, needsRoot: system && runtime.uid !== 0 };
  }));
}

/** The account for showing a system service, for which any will do. */
function someUser(): string {
  return runtime.env.get("SUDO_USER") ?? userName();
}

async function stateOf(service: ServiceName, options: PlanOptions): Promise<ServiceState[]> {
  const user = options.system ? options.user ?? someUser() : undefined;
  const { manager } = await prepare(service, { ...options, user });
  const text = await runtime.files.readText(manager.file);
  if (!text?.includes(SERVICE_MARK)) return [];
  const words = startedWords(text);
  const system = options.system === true;
  const missing = await missingFile(words);
  return [{
    service,
    system,
    install: installLine(service, { system, words, user: accountIn(text) }),
    file: manager.file,
    running: (await runtime.commands.run(manager.isActive)).code === 0,
    missing,
    other: missing === null ? otherSvc(words, service) : null,
    log: manager.showLog,
  }];
}

/** `unreachable`: why this account's systemd does not answer: nothing can be installed, and it is unknown what runs. */
export function statusLines(states: readonly ServiceState[], unreachable?: string): string[] {
  const isKnown = unreachable === undefined;
  if (states.length === 0) {
    return [
      isKnown
        ? "No service is installed. To install one: svc service install listener"
        : `No service is installed, and none can be: ${unreachable}`,
    ];
  }
  const lines = states.flatMap((state) => {
    const { service, system, file, running, missing, other, log } = state;
    const gone = missing === null ? [] : [`it starts "${missing}", which is gone`];
    const old = other === null ? [] : [`it starts another svc than this: ${other}`];
    return [
      `${service}${system ? " (system)" : ""}: ${running ? "running" : "not running"}, ${file}`,
      `    log: ${log}`,
      ...[...gone, ...old].map((what) => `    → ${what}; run: ${state.install}`),
    ];
  });
  return isKnown ? lines : [...lines, `Whether this account's services run is not known: ${unreachable}`];
}

/** The first of these words that names a file of svc's that no longer exists. */
async function missingFile(words: readonly string[]): Promise<string | null> {
  const files = words.filter((word) => /^\/.*\/(deno|node|svc|cli\.[tj]s|deno\.json)$/.test(word));
  for (const path of files) if (await runtime.files.info(path) === undefined) return path;
  return null;
}

/** The svc in these words, if it is not this one. */
function otherSvc(words: readonly string[], name: ServiceName): string | null {
  const own = runtime.selfCommand();
  if (own.every((word, at) => words[at] === word)) return null;
  const end = words.indexOf(name === "relay" ? "server" : "listener");
  return shellLine(words.slice(0, end < 0 ? undefined : end));
}
