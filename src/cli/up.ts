/** `svc up`: relay, listener and pairing in one command, with a demo session on request. */
import { runtime } from "#runtime";
import { delay, systemClock } from "../async/clock.ts";
import { errorText } from "../async/error_text.ts";
import { relayErrorText } from "../client/certificate_fault.ts";
import { httpBaseFromWs, wsFromHttpBase } from "../client/addresses.ts";
import { createRelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import { askDaemon } from "../home/control_socket.ts";
import { type Config, deviceNameOf, loadConfig, newHookId, saveConfig } from "../home/config.ts";
import {
  type DaemonHost,
  daemonStatus,
  ensureListener,
  hasCrashed,
  planDaemon,
  recordedPid,
  restartListener,
  stopDaemon,
} from "../home/daemon.ts";
import { offerPairing, type PairingHost, type PendingPairing } from "../home/pairing.ts";
import type { HomePaths } from "../home/paths.ts";
import { checkHome } from "../home/permissions.ts";
import type { Scope } from "../protocol/http.ts";
import { listenerDeviceId } from "../protocol/names.ts";
import { createKey, findKey } from "../relay/api_keys.ts";
import { type RunningRelay, startRelay } from "../relay/server.ts";
import { keepingHangup } from "../runtime/hangup.ts";
import { shellLine } from "../runtime/system.ts";
import { openStore } from "../store/sqlite.ts";
import { type KeyRecord, type Store, StoreInUse } from "../store/store.ts";
import { attachLine, verbs } from "../tmux/argv.ts";
import { runTmux, tmuxEnvironment } from "../tmux/server.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths, daemonHost, daemonOptions, phoneDirectory } from "./context.ts";
import { print, printError, UsageError } from "./output.ts";
import { awaitPhone, LINK_LIFE, outcomeLines, pairingLink, qrText } from "./pair.ts";
import { isLoopback, openTunnel, reach, readPublicUrl } from "./reach.ts";
import { listenAddress } from "./server.ts";
import { watchSessions } from "./sessions.ts";
import { dataDirectory, pairingHost, readTls } from "./settings.ts";

interface UpOptions {
  listen: string;
  data?: string | undefined;
  publicUrl?: string | undefined;
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
  tunnel?: true | undefined;
  demo?: true | undefined;
  replace?: true | undefined;
}

/** Stops one of the things that were started; the last one started is stopped first. */
type Undo = () => Promise<unknown>;

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "up",
    summary: "Start the relay and the listener on this machine, and show the link for the phone.",
    examples: ["svc up", "svc up --demo", "svc up --tunnel", "svc up --listen 0.0.0.0:7420"],
  })
    .option("--listen <host:port>", "where the relay listens", "127.0.0.1:7420")
    .option("--data <dir>", "the relay's folder (default: server in ~/.svc)")
    .option("--public-url <url>", "the address at which phones reach this relay")
    .option("--tls-cert <file>", "certificate (PEM), with --tls-key")
    .option("--tls-key <file>", "its key (PEM)")
    .option("--tunnel", "open an https tunnel with tailscale or cloudflared")
    .option("--demo", "add a session with the built-in echo agent")
    .option("--replace", "leave the other relay that this machine has joined");
  const options: UpOptions = parseOptions(command, args).opts();
  const undo: Undo[] = [];
  try {
    await bringUp(options, await accountPaths(), undo);
    return 0;
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

async function bringUp(options: UpOptions, paths: HomePaths, undo: Undo[]): Promise<void> {
  const publicUrl = readPublicUrl(options.publicUrl);
  if (options.tunnel && (options.publicUrl ?? options.tlsCert) !== undefined) {
    throw new UsageError(
      "Cannot use --tunnel with --public-url or --tls-cert: a tunnel has an address and a certificate of its own.",
    );
  }
  await checkHome(runtime.files, paths);
  const stopped = untilStopped(undo);
  const dataDir = await dataDirectory(options);
  const relay = await startOwnRelay(options, dataDir);
  undo.push(() => relay.stop());
  const own = await ownAddress(relay, { isTls: options.tlsCert !== undefined, publicUrl });
  const wsUrl = wsFromHttpBase(own);
  const key = await joinRelay(paths, {
    dataDir,
    wsUrl,
    port: new URL(relay.url).port,
    replace: options.replace === true,
  });
  if (key.notice !== undefined) print(`${key.notice}\n`);
  const keepListener = await bringListener(paths, { restart: key.changed, undo });
  const tunnel = options.tunnel ? await openTunnel(runtime.commands, relay.url) : undefined;
  if (tunnel) undo.push(() => tunnel.close());
  const address = { publicUrl: tunnel?.url ?? publicUrl, lanAddress: runtime.lanAddress() };
  const { link, lines } = reach({ url: relay.url, ...address });
  // Used by a later svc pair.
  if (!isLoopback(link)) relay.setPublicUrl(link);
  if (options.demo) await startDemo(undo);
  const api = createRelayApi({ baseUrl: own, apiKey: key.apiKey });
  const host = await pairingHost(paths, api);
  const pairing = await offerPairing(host);
  show(pairingLink(link, pairing), lines);
  const phone = announcePhone(host, pairing, { signal: stopped });
  await Promise.all([watchSessions(api, { signal: stopped }), phone, keepListener(stopped)]);
  print("Stopping.");
}

/** The address at which this machine reaches the relay. A certificate is seldom for 127.0.0.1. */
async function ownAddress(
  { url }: RunningRelay,
  { isTls, publicUrl }: { isTls: boolean; publicUrl: string | undefined },
): Promise<string> {
  const local = url.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]");
  if (!isTls) return local;
  const own = publicUrl ?? local;
  try {
    await createRelayApi({ baseUrl: own }).health();
    return own;
  } catch (error) {
    throw new Error(
      `This machine does not reach its relay at "${own}". Name the host that the certificate is for: --public-url https://NAME:PORT. (${
        relayErrorText(error)
      })`,
    );
  }
}

async function startOwnRelay(options: UpOptions, dataDir: string): Promise<RunningRelay> {
  const phone = await phoneDirectory();
  if (phone === undefined) {
    print("The phone's page is not built. In the checkout of svc run: deno run -A scripts/build_phone.ts\n");
  }
  try {
    return await startRelay({
      listen: listenAddress(options),
      dataDir,
      tls: await readTls(options),
      phoneDirectory: phone,
      log: printError,
    });
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    throw new Error(
      `Cannot start the relay: it is already running, on "${dataDir}". To pair a phone with it, run: svc pair. To start it with other options, stop it first.`,
    );
  }
}

interface OwnKey {
  apiKey: string;
  /** The configuration changed: a running listener has not read it yet. */
  changed: boolean;
  /** A line for the user about the key that was used before. */
  notice: string | undefined;
}

/** Commands that need `admin` use the store instead, as svc keys does. */
const LISTENER_SCOPES: readonly Scope[] = ["push:send", "push:read"];

/** Writes address and key into the configuration. Throws Error when that names another relay, unless `replace` is set. */
async function joinRelay(
  paths: HomePaths,
  { dataDir, wsUrl, port, replace }: { dataDir: string; wsUrl: string; port: string; replace: boolean },
): Promise<OwnKey> {
  const config = await loadConfig(runtime.files, paths);
  const joined = config.wsUrl !== wsUrl ? config.wsUrl : undefined;
  if (joined !== undefined && !replace && !await isPrevious(joined, port)) {
    throw new Error(
      `Cannot join this relay: "${paths.config}" names another one, "${joined}". Add --replace to leave that one, or set SVC_HOME to another folder.`,
    );
  }
  const { apiKey, notice, name } = await listenerKey(dataDir, config);
  const isNamed = name === deviceNameOf(config, runtime.hostname());
  const changed = apiKey !== config.apiKey || wsUrl !== config.wsUrl || !isNamed;
  const made = newHookId();
  if (changed || config.hookId === undefined || config.deviceName === undefined) {
    // baseUrl is the other relay's.
    const left = wsUrl === config.wsUrl ? {} : { baseUrl: undefined };
    // The name is kept, so that the host stays the same one when its hostname changes.
    const changes = ({ hookId = made, deviceName = name }: Config): Partial<Config> => ({
      apiKey,
      wsUrl,
      hookId,
      deviceName,
      ...left,
    });
    await saveConfig(runtime.files, paths, changes);
  }
  return { apiKey, changed, notice };
}

/** The configured key if it belongs to this listener; else a new one, which replaces the one in use. */
async function listenerKey(
  dataDir: string,
  config: Config,
): Promise<Omit<OwnKey, "changed"> & { name: string }> {
  const store = await openStore(dataDir);
  try {
    const used = config.apiKey ? await findKey(store, config.apiKey) : undefined;
    const name = config.deviceName ?? await joinedName(store, used) ?? runtime.hostname();
    const deviceId = await listenerDeviceId(name);
    if (config.apiKey && used && isListeners(used, deviceId)) {
      return { apiKey: config.apiKey, notice: undefined, name };
    }
    const wanted = { name, scopes: LISTENER_SCOPES, role: "listener", deviceId } as const;
    const made = await createKey(store, { ...wanted, ...(used ? { account: used.account } : {}) });
    if (used === undefined) return { apiKey: made.key, notice: undefined, name };
    return { apiKey: made.key, notice: await takeOver(store, { used, made: made.id, dataDir }), name };
  } finally {
    await store.close();
  }
}

/** The name with which the owner of a listener's key has joined: the hostname may have changed since. */
async function joinedName(store: Store, key: KeyRecord | undefined): Promise<string | undefined> {
  if (key?.deviceId === undefined || key.role !== "listener") return undefined;
  const device = await store.findDevice({ account: key.account, id: key.deviceId });
  if (device === undefined || await listenerDeviceId(device.name) !== key.deviceId) return undefined;
  return device.name;
}

function isListeners({ role, deviceId, scopes }: KeyRecord, wanted: string): boolean {
  return role === "listener" && deviceId === wanted && !scopes.includes("admin");
}

/** Replaces the old key on this host and returns a notice for the user: for others that use it, it keeps working. */
async function takeOver(
  store: Store,
  { used, made, dataDir }: { used: KeyRecord; made: string; dataDir: string },
): Promise<string> {
  await store.replaceKey({ from: used.id, to: made });
  return `This host now has a listener's key of its own. The one that it used before (${used.id}, ${
    used.scopes.join(", ")
  }) still works, for browsers and scripts that use it. When nothing needs it any more, run: ${
    shellLine(["svc", "keys", "revoke", used.id, "--data", dataDir])
  }`;
}

/** How long a relay on this machine may take to answer. */
const ANSWER_LIMIT_MS = 2_000;

/** True for the relay of an earlier `svc up`, unless it still runs on another port: its phones would lose this host. */
async function isPrevious(wsUrl: string, port: string): Promise<boolean> {
  if (!URL.canParse(wsUrl) || !isLoopback(wsUrl)) return false;
  if (new URL(wsUrl).port === port) return true;
  const api = createRelayApi({ baseUrl: httpBaseFromWs(wsUrl) });
  try {
    await api.health({ signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    return false;
  } catch (error) {
    // A relay that is busy, or refuses, still runs.
    return error instanceof RelayError && (error.code === "unreachable" || error.code === "bad_answer");
  }
}

/** Resolves once a listener runs, with a function that keeps one running until the signal fires. */
async function bringListener(
  paths: HomePaths,
  { restart, undo }: { restart: boolean; undo: Undo[] },
): Promise<(signal: AbortSignal) => Promise<void>> {
  const host = daemonHost();
  const options = daemonOptions(paths);
  let own: number | undefined;
  /** False if another process has started one in the meantime. */
  const start = async (): Promise<boolean> => {
    if (!await ensureListener(host, { ...options, onNotice: print })) return false;
    const isService = await runtime.files.info(paths.service) !== undefined;
    if (!isService) own = await daemonPid(host, paths);
    return true;
  };
  // Meanwhile another one may have taken its place, such as a service.
  undo.push(async () =>
    own !== undefined && await daemonPid(host, paths) === own && await stopDaemon(host, paths)
  );
  const { action } = await planDaemon(host, options);
  const isOwn = action === "start" && await start();
  // A listener that was already running may have read the old configuration.
  if (!isOwn && restart) await restartListener(host, options);
  else if (!isOwn) {
    await ensureListener(host, { ...options, onNotice: print });
    // It may be waiting for the relay, which runs only now.
    await askDaemon({ sockets: host.sockets, path: paths.socket }, { op: "look" }, {
      timeoutMs: LOOK_LIMIT_MS,
    });
  }
  return async (signal) => {
    let failure = "";
    while (await pause(LISTENER_CHECK_MS, signal)) {
      try {
        if (!await hasCrashed(host, paths)) continue;
        await start();
        print("The listener ended unexpectedly and was started again. To see why, run: svc logs");
        failure = "";
      } catch (error) {
        if (failure === errorText(error)) continue;
        failure = errorText(error);
        printError(failure);
      }
    }
  };
}

/** The listener's process ID: as it reports it, or as it was recorded if it is too busy to answer. */
async function daemonPid(host: DaemonHost, paths: HomePaths): Promise<number | undefined> {
  return (await daemonStatus(host, paths))?.pid ?? await recordedPid(host.files, paths);
}

/** How long a listener may take to answer, in milliseconds. */
const LOOK_LIMIT_MS = 2_000;

/** How often to check whether the listener has crashed. */
const LISTENER_CHECK_MS = 5_000;

/** False if the signal fires first. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  await delay(ms, { clock: systemClock, signal }).catch(() => {});
  return !signal.aborted;
}

function show(url: string, lines: readonly string[]): void {
  print(qrText(url));
  print(`\nOpen this link: ${url}`);
  print(`  ${LINK_LIFE} For another one, run: svc pair\n`);
  print(lines.join("\n"));
  print("\nStart an agent in another terminal, for example: svc cc. Ctrl-C stops what was started here.");
}

/** Prints which phone used the link, and the words to compare. */
async function announcePhone(
  host: PairingHost,
  pairing: PendingPairing,
  options: { signal: AbortSignal },
): Promise<void> {
  try {
    const outcome = await awaitPhone(host, pairing, options);
    if (outcome !== undefined) print(["", ...outcomeLines(outcome)].join("\n"));
  } catch (error) {
    printError(`Cannot find out whether a phone paired: ${errorText(error)}`);
  }
}

/** Fires at Ctrl-C, SIGTERM or hang-up. */
function untilStopped(undo: Undo[]): AbortSignal {
  const controller = new AbortController();
  const onSignal = keepingHangup(runtime.onSignal);
  const offs = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) =>
    onSignal(signal, () => controller.abort())
  );
  undo.push(() => Promise.resolve(offs.forEach((off) => off())));
  return controller.signal;
}

/** Starts the echo agent detached in a new folder, and prints how to look at it. */
async function startDemo(undo: Undo[]): Promise<void> {
  const parent = await runtime.files.makeTempDirectory("svc-demo-");
  undo.push(() => runtime.files.remove(parent, { recursive: true }));
  const folder = `${parent}/demo`;
  await runtime.files.makeDirectory(folder);
  const env = { ...runtime.env.all(), CLAUDE_PROJECT_DIR: folder, TMUX: "" };
  const argv = [...runtime.selfCommand(), "--detach", "echo"];
  const started = await runtime.commands.run(argv, { cwd: folder, env });
  if (started.code !== 0) {
    throw new Error(`Cannot start the demo session: ${started.stderr.trim().replace(/^svc: /, "")}`);
  }
  const name = new TextDecoder().decode(started.stdout).trim();
  const socket = runtime.env.get("SVC_TMUX_SOCKET");
  const tmux = { socket, env: tmuxEnvironment(runtime.env.all()) };
  undo.push(() => runTmux(runtime.commands, [verbs.killSession(name)], tmux).catch(() => {}));
  print(
    `The demo agent runs in the tmux session "${name}". To look at it, run: ${attachLine(socket, name)}\n`,
  );
}
