/** What `svc service` installs: the process of a relay or a listener, from this shell's surroundings and the command line. */
import { runtime } from "#runtime";
import { daemonEnvironment, STANDBY_OPTION } from "../../home/daemon.ts";
import { absolutePath, type HomePaths } from "../../home/paths.ts";
import { accountPaths } from "../context.ts";
import { UsageError } from "../exit.ts";
import { type ServiceManager, serviceManager } from "./manager.ts";
import { type ServiceName, type ServicePlan, STATE_DIRECTORY } from "./units.ts";

export interface PlaceOptions {
  system?: true | undefined;
  user?: string | undefined;
  dryRun?: true | undefined;
}

export interface PlanOptions extends PlaceOptions {
  /** Arguments of `svc server`. */
  server: readonly string[];
  /** Nothing is to be installed. */
  shown?: boolean;
}

export async function prepare(
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

/** Undefined: the relay gets an account that systemd makes. */
function accountOf(name: ServiceName, named: string | undefined): string | undefined {
  const account = named ?? (name === "listener" ? runtime.env.get("SUDO_USER") : undefined);
  if (account !== undefined && !/^[\w.@+-]+\$?$/.test(account)) {
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

/** An account's own service has no way to such a port. Throws UsageError that says what to do. */
export async function refuseLowPort({ isSystem, hasLowPort, command }: ServicePlan): Promise<void> {
  if (isSystem || !hasLowPort || runtime.platform !== "linux" || runtime.uid === 0) return;
  const text = await runtime.files.readText("/proc/sys/net/ipv4/ip_unprivileged_port_start");
  const port = portOf(optionValue(command, "--listen"));
  if (port >= Number(text ?? LOW_PORTS)) return;
  throw new UsageError(
    `Cannot listen on port ${port} as this account's service: add --system, or put a reverse proxy in front (docs/operating.md).`,
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
