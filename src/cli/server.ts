/** `svc server`: runs the relay in the foreground. `svc server backup` and `migrate` copy its store, even while it runs. */
import { runtime } from "#runtime";
import { errorText } from "../async/error_text.ts";
import { absolutePath } from "../home/paths.ts";
import { parseListenAddress, startRelay } from "../relay/server.ts";
import { keepingHangup } from "../runtime/hangup.ts";
import { plainAddress } from "../runtime/plain_connections.ts";
import { NATS_PREFIX, replicasOf } from "../runtime/nats_address.ts";
import { shellLine } from "../runtime/system.ts";
import {
  copyStore,
  hasStore,
  isOnNats,
  natsAddress,
  type NatsSettings,
  noteNats,
  openRelayStore,
} from "../store/open.ts";
import { backupStore, openStore } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";
import { type CommandText, defineCommand, parseOptions, runSubcommand } from "./command.ts";
import { dataDirectory, readTls } from "./settings.ts";
import { print, UsageError } from "./output.ts";
import { readPublicUrl } from "./reach.ts";
import { phoneDirectory, workingDirectory } from "./context.ts";

interface ServerOptions extends NatsOptions {
  listen: string;
  data?: string | undefined;
  publicUrl?: string | undefined;
  trustedProxy?: string | undefined;
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
  webPushContact?: string | undefined;
  webPushLoopback?: true | undefined;
  nats?: string | undefined;
}

export async function run(args: readonly string[]): Promise<number> {
  return await runSubcommand(args, { ...SERVER, subcommands: { backup, migrate }, otherwise: serve });
}

const SERVER: CommandText = {
  name: "server",
  summary: "Run the relay in the foreground until Ctrl-C. It prints one line when it is ready.",
  examples: [
    "svc server",
    "svc server --listen 0.0.0.0:7420 --tls-cert relay.crt --tls-key relay.key",
    "svc server backup relay-copy.db",
    "svc server migrate --to nats://a,nats://b,nats://c",
  ],
};

function parseServer(args: readonly string[]): ServerOptions {
  const command = defineCommand(SERVER)
    .option("--listen <host:port>", "where to listen; port 0 takes a free one", "127.0.0.1:7420")
    .option("--data <dir>", "the relay's folder (default: server in ~/.svc)")
    .option("--public-url <url>", "the address at which others reach this relay")
    .option(
      "--trusted-proxy <addresses>",
      "addresses of reverse proxies, separated by commas, whose X-Forwarded-For header is trusted",
    )
    .option("--tls-cert <file>", "certificate (PEM), with --tls-key")
    .option("--tls-key <file>", "its key (PEM)")
    .option("--web-push-contact <address>", "mailto: or https: address for the browsers' push services")
    .option("--web-push-loopback", "for tests: allow push services on this machine over plain http")
    .option(
      "--nats <urls>",
      "keep the data in NATS JetStream, with other relay nodes: nats://a,nats://b,nats://c",
    )
    .option("--nats-creds <file>", "credentials for NATS")
    .option("--nats-ca <file>", "certificate (PEM) of the authority of NATS's own certificates")
    .option("--nats-prefix <name>", "begins the names of subjects and streams (default: svc)");
  return parseOptions(command, args).opts();
}

/** The relay's settings from the options. Throws UsageError, and Error for a file that cannot be read. */
async function readOptions(options: ServerOptions) {
  return {
    listen: listenAddress(options),
    nats: relayNats(options),
    publicUrl: readPublicUrl(options.publicUrl),
    trustedProxies: trustedProxies(options),
    tls: await readTls(options),
    webPushContact: webPushContact(options),
    webPushLoopback: options.webPushLoopback,
  };
}

/** Checks the arguments of `svc server` as a start does, with the same errors; returns where the relay would listen. */
export async function checkServerOptions(
  args: readonly string[],
): Promise<{ listen: string; isTls: boolean }> {
  const { listen, tls } = await readOptions(parseServer(args));
  return { listen, isTls: tls !== undefined };
}

async function serve(args: readonly string[]): Promise<number> {
  const options = parseServer(args);
  const stopped = nextStopSignal();
  const { nats, ...read } = await readOptions(options);
  const dataDir = await dataDirectory(options);
  if (nats !== undefined) printReplicas(nats);
  const starting = startRelay({
    ...read,
    dataDir,
    nats: nats && await natsAddress(nats),
    phoneDirectory: await phoneDirectory(),
    log: (line) => runtime.terminal.writeError(`[${new Date().toISOString()}] ${line}\n`),
  });
  // A start waits up to a minute for NATS; the end of the process interrupts it.
  const relay = await Promise.race([starting, stopped]);
  if (relay === undefined) return 0;
  await noteNats(dataDir, nats);
  print(`svc server listening on ${relay.url} (${relay.wsUrl})`);
  await stopped;
  await relay.stop();
  return 0;
}

async function backup(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "server backup",
    summary:
      "Copy the relay's store into a file, even while the relay is running. To restore it, stop the relay, remove relay.db with its -wal and -shm, and put the copy in its place.",
    examples: ["svc server backup relay-copy.db", "svc server backup /backup/relay.db --data /srv/relay"],
  })
    .argument("<file>", "where to write the copy; an existing file is replaced")
    .option("--data <dir>", "the relay's folder (default: server in ~/.svc)");
  const parsed = parseOptions(command, args);
  const [file] = parsed.processedArgs;
  if (file === "-") {
    throw new UsageError(
      "Cannot back up to standard output: SQLite writes the copy in place. Name a file, or ./- for one of that name.",
    );
  }
  const data = await dataDirectory(parsed.opts());
  if (await isOnNats(data)) {
    const command = shellLine(["svc", "server", "migrate", "--data", data, "--to"]);
    throw new Error(
      `Cannot back up "${data}": its relay keeps its data in NATS, and a database there is from before. Copy what is in NATS with: ${command} sqlite:FOLDER`,
    );
  }
  await backupStore(data, file);
  print(`Copied to ${file}`);
  return 0;
}

/** Throws UsageError for anything but an address with a port. */
export function listenAddress({ listen }: { listen: string }): string {
  try {
    parseListenAddress(listen);
    return listen;
  } catch (error) {
    throw new UsageError(errorText(error));
  }
}

/** The NATS settings from the options; undefined without `--nats`. */
function relayNats({ nats, ...rest }: ServerOptions): NatsSettings | undefined {
  if (nats !== undefined) return natsSettings(nats, rest);
  const { natsCreds, natsCa, natsPrefix } = rest;
  if (natsCreds === undefined && natsCa === undefined && natsPrefix === undefined) return undefined;
  throw new UsageError("--nats-creds, --nats-ca and --nats-prefix go with --nats: give the servers too.");
}

function printReplicas({ servers }: NatsSettings): void {
  print(
    replicasOf(servers) === 3
      ? "Every message is kept by three NATS servers: one of them may fail."
      : `Every message is kept by one NATS server: name three with --nats, so that one of them may fail.`,
  );
}

function trustedProxies({ trustedProxy = "" }: ServerOptions): string[] {
  const addresses = trustedProxy.split(",").map((address) => address.trim()).filter((one) => one !== "");
  const wrong = addresses.find((address) => !/^[0-9.]+$|^[0-9A-Fa-f:]+$/.test(address));
  if (wrong === undefined) return addresses.map(plainAddress);
  throw new UsageError(
    `Cannot trust the proxy "${wrong}": give IP addresses such as 127.0.0.1, separated by commas.`,
  );
}

function webPushContact({ webPushContact: text }: ServerOptions): string | undefined {
  if (text === undefined || /^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/.test(text)) return text;
  throw new UsageError(
    `Cannot use the contact "${text}": give one such as mailto:you@example.com or https://relay.example.`,
  );
}

function nextStopSignal(): Promise<undefined> {
  const onSignal = keepingHangup(runtime.onSignal);
  return new Promise((resolve) => {
    const offs = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) =>
      onSignal(signal, () => {
        for (const off of offs) off();
        resolve(undefined);
      })
    );
  });
}

interface MigrateOptions extends NatsOptions {
  to: string;
  data?: string | undefined;
}

interface Target {
  open(): Promise<Store>;
  /** The command that starts a relay on it. */
  start: string;
}

async function migrate(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "server migrate",
    summary: "Copy all that the relay keeps to NATS, or from NATS into a folder, even while the relay is " +
      "running. Each further run copies what has changed. Finally stop the relay, run this once more, and start the " +
      "relay there.",
    examples: [
      "svc server migrate --to nats://a,nats://b,nats://c",
      "svc server migrate --data /srv/relay --to sqlite:/srv/relay-copy",
    ],
  })
    .requiredOption("--to <place>", "nats://a,nats://b,nats://c, or sqlite:FOLDER for SQLite in that folder")
    .option("--data <dir>", "the folder of the relay that is copied (default: server in ~/.svc)")
    .option("--nats-creds <file>", "credentials for the NATS that is written")
    .option("--nats-ca <file>", "certificate (PEM) of the authority of its certificates")
    .option("--nats-prefix <name>", "begins the names of its subjects and streams (default: svc)");
  const options: MigrateOptions = parseOptions(command, args).opts();
  const target = targetOf(options);
  const data = await dataDirectory(options);
  if (!await hasStore(data)) {
    throw new Error(`Cannot copy: no relay has its data in "${data}". Name its folder with --data.`);
  }
  const from = await openRelayStore(data);
  try {
    await copy(from, target);
  } finally {
    await from.close();
  }
  return 0;
}

async function copy(from: Store, target: Target): Promise<void> {
  const to = await target.open();
  try {
    const { accounts, keys, devices, pushes, added, changed } = await copyStore({ from, to }, Date.now());
    print(
      `Copied everything. Accounts: ${accounts}; keys: ${keys}; devices: ${devices}; messages: ${pushes}, ` +
        `of which ${added} are new and ${changed} have changed.`,
    );
  } finally {
    await to.close();
  }
  const next = `run this once more, then start the relay there: ${target.start}`;
  print(
    await from.isInUse()
      ? `The relay is still running. Stop it, ${next}`
      : `The relay is not running: nothing is missing. Start it there: ${target.start}`,
  );
}

/** The store that `--to` names. */
function targetOf({ to, data, ...nats }: MigrateOptions): Target {
  const folder = /^sqlite:(.+)$/.exec(to)?.[1];
  if (folder !== undefined) {
    if (nats.natsCreds !== undefined || nats.natsCa !== undefined || nats.natsPrefix !== undefined) {
      throw new UsageError("--nats-creds, --nats-ca and --nats-prefix go with --to nats://…");
    }
    return {
      open: () => openStore(folder, { only: "copy" }),
      start: shellLine(["svc", "server", "--data", folder]),
    };
  }
  if (!/^(nats|tls):/.test(to)) {
    throw new UsageError(
      `Cannot copy to "${to}": give nats://a,nats://b,nats://c, or sqlite:FOLDER for SQLite in that folder.`,
    );
  }
  const settings = natsSettings(to, nats);
  return {
    async open() {
      const { openNatsStore } = await import("../store/nats.ts");
      return await openNatsStore(await natsAddress(settings));
    },
    start: startOnNats({ to, data, ...nats }),
  };
}

/** The command has every option that locates the copy, and the folder, by which other commands then find it. */
function startOnNats({ to, data, natsCreds, natsCa, natsPrefix }: MigrateOptions): string {
  const given = { data, "nats-creds": natsCreds, "nats-ca": natsCa, "nats-prefix": natsPrefix };
  const options = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value]
  );
  return shellLine(["svc", "server", "--nats", to, ...options]);
}

interface NatsOptions {
  natsCreds?: string | undefined;
  natsCa?: string | undefined;
  natsPrefix?: string | undefined;
}

/**
 * `servers`: addresses separated by commas. Throws UsageError for any other text. Makes the paths of files absolute,
 * because other commands read them later.
 */
function natsSettings(servers: string, options: NatsOptions): NatsSettings {
  const { natsCreds, natsCa, natsPrefix: prefix = NATS_PREFIX } = options;
  const all = servers.split(",").map((server) => server.trim()).filter((server) => server !== "");
  if (all.some((server) => server.includes("@"))) {
    // Not quoted: it may contain a password, and services log this.
    throw new UsageError(
      "Cannot use a NATS server with a user or a password in its address: name a file with --nats-creds.",
    );
  }
  const wrong = all.find((server) => !/^(nats|tls):\/\/[^\s/]+$/.test(server));
  if (wrong !== undefined || all.length === 0) {
    throw new UsageError(
      `Cannot use the NATS server "${
        wrong ?? servers
      }": give addresses such as nats://127.0.0.1:4222, separated by commas.`,
    );
  }
  const fromHere = (file?: string) => file === undefined ? undefined : absolutePath(file, workingDirectory());
  return { servers: all, prefix, credentials: fromHere(natsCreds), ca: fromHere(natsCa) };
}
