/** The whole of svc on one machine: relay, listener and echo agents as real processes, and a client of the HTTP API. */
import { fileURLToPath } from "node:url";
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import type { EchoControl, TranscriptEntry } from "../../src/echo/program.ts";
import { listenerDeviceId } from "../../src/protocol/names.ts";
import type { PushRecord, PushRequestInput } from "../../src/protocol/push.ts";
import { controlEcho, promptsIn, readTranscript } from "./agents_echo.ts";
import { type NatsServer, startNatsCluster } from "./nats_server.ts";
import { newKey } from "./new_key.ts";
import { FROM_CHECKOUT, type Launch, runSvc, type Started, startSvc, SVC } from "./program.ts";
import type { Ran } from "./run.ts";
import { makeSandbox, type Sandbox } from "./sandbox.ts";
import { SAFETY_LIMIT_MS, until } from "./until.ts";

export interface Stack extends AsyncDisposable {
  sandbox: Sandbox;
  relay: Started;
  listener: Started;
  url: string;
  wsUrl: string;
  /** The relay node of the listener, which differs from `wsUrl` if there are several nodes. */
  listenerWsUrl: string;
  /** With NATS: its servers, and the relay nodes in addition to `relay`, the listener's first. */
  nats: readonly NatsServer[];
  nodes: readonly RelayNode[];
  api: RelayApi;
  apiKey: string;
  deviceId: string;
  launch: Launch;
  svc(...args: string[]): Promise<Ran>;
  /** Starts an echo agent in the project of this name; resolves with its session once it accepts input. */
  echo(project?: string): Promise<EchoSession>;
  /** Sends as a phone does; resolves with the final receipt. */
  send(session: string, body: string, more?: Partial<PushRequestInput>): Promise<PushRecord>;
  startRelay(options?: StartOptions): Promise<void>;
  startListener(options?: StartOptions): Promise<void>;
  restartListener(): Promise<void>;
  /** Kills the relay, or with NATS the node that the host uses. */
  killHostsRelay(): Promise<void>;
  /** Resolves with the link of `svc pair --json`. */
  pairLink(): Promise<string>;
}

export interface RelayNode {
  wsUrl: string;
  kill(): Promise<void>;
  /** Kills it and starts it again at the same address. */
  killAndStart(): Promise<void>;
}

/** How a relay or listener is started; by default as the stack was made. */
export interface StartOptions {
  launch?: Launch;
  /** Added to its environment. */
  env?: Record<string, string>;
}

export interface EchoSession {
  name: string;
  /**
   * Resolves with the prompts that the agent received, in order and exactly, once there are `atLeast` and no more
   * arrive: the agent writes its transcript shortly after it takes the marker, so a receipt may come first.
   */
  prompts(atLeast?: number): Promise<string[]>;
  /** Resolves with every entry of its transcript. */
  entries(): Promise<TranscriptEntry[]>;
  screen(): Promise<string>;
  /** Opens or denies a dialog, or works, as a person at the computer could make it do. */
  control(request: EchoControl): Promise<void>;
}

export interface StackOptions {
  /** How the relay, the listener and the wrapper are started. */
  launch?: Launch;
  /** `false`: the test starts the listener itself. */
  listener?: boolean;
  /** Joins the relay and account of another host. */
  joins?: Pick<Stack, "relay" | "url" | "wsUrl" | "apiKey">;
  /** Default: this machine's. */
  hostname?: string;
  /** Three relay nodes on three NATS servers; default: if SVC_TEST_NATS is set. */
  onNats?: boolean;
  /** Additional arguments for `svc server`. */
  server?: readonly string[];
}

/** Runs the same tests with three relay nodes on three NATS servers. */
export const ON_NATS = Deno.env.get("SVC_TEST_NATS") === "1";

const helper = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Runs svc as on a machine whose name is in TEST_HOSTNAME. */
export const NAMED_HOST: Launch = SVC === FROM_CHECKOUT
  ? FROM_CHECKOUT.with(-1, helper("named_host.ts"))
  : SVC;

/** The environment that `NAMED_HOST` needs. */
export function namedHost(hostname: string): Record<string, string> {
  const onNode = { NODE_OPTIONS: `--import ${helper("named_host_node.js")}` };
  return { TEST_HOSTNAME: hostname, ...(SVC === FROM_CHECKOUT ? {} : onNode) };
}

export async function makeStack(options: StackOptions = {}): Promise<Stack> {
  const sandbox = await makeSandbox();
  try {
    return await assemble(sandbox, options);
  } catch (error) {
    await sandbox[Symbol.asyncDispose]();
    throw error;
  }
}

async function assemble(sandbox: Sandbox, options: StackOptions): Promise<Stack> {
  const { hostname, launch = hostname === undefined ? SVC : NAMED_HOST, listener = true } = options;
  const run: StartOptions = {
    launch,
    ...(hostname === undefined ? {} : { env: namedHost(hostname) }),
  };
  const data = `${sandbox.svcHome}/server`;
  const { onNats: isOnNats = ON_NATS } = options;
  const nats = options.joins === undefined && isOnNats ? await startNatsCluster(`${sandbox.root}/nats`) : [];
  const onNats = nats.length === 0 ? [] : ["--nats", nats.map(({ url }) => url).join(",")];
  const serve = (listen: string, started: StartOptions = {}): Started =>
    startSvc(
      sandbox,
      ["server", "--listen", listen, "--data", data, ...onNats, ...options.server ?? []],
      startedAs(run, started),
    );
  const { relay, url, wsUrl, apiKey } = options.joins ?? await ownRelay({ serve, data });
  // The listener connects to another node than the test's clients.
  const nodes = nats.length === 0 ? [] : [await startNode(serve), await startNode(serve)];
  const listenerWsUrl = nodes[0]?.wsUrl ?? wsUrl;
  const { host } = new URL(url);
  await Deno.mkdir(sandbox.svcHome, { recursive: true, mode: 0o700 });
  const config = JSON.stringify({ apiKey, hookId: "hook_test", wsUrl: listenerWsUrl });
  await Deno.writeTextFile(`${sandbox.svcHome}/config.json`, config, { mode: 0o600 });
  const api = createRelayApi({ baseUrl: url, apiKey });
  const stack: Stack = {
    sandbox,
    relay,
    listener: relay,
    url,
    wsUrl,
    listenerWsUrl,
    nats,
    nodes,
    api,
    apiKey,
    deviceId: await listenerDeviceId(hostname ?? Deno.hostname()),
    launch,
    svc: (...args) => runSvc(sandbox, args, run),
    echo: (project) => startEcho(stack, project),
    async send(session, body, more = {}): Promise<PushRecord> {
      const push = { type: "agent.command", agentSessionName: session, body, ...more };
      const { id } = await api.sendPush(push);
      return await waitForReceipt(api, id, { timeoutMs: SAFETY_LIMIT_MS, pollMs: 50 });
    },
    async startRelay(options): Promise<void> {
      stack.relay = serve(host, options);
      await stack.relay.line(RELAY_READY);
    },
    async startListener(options = {}): Promise<void> {
      stack.listener = startSvc(sandbox, ["listener"], startedAs(run, options));
      await stack.listener.line(/connected to/);
    },
    async restartListener(): Promise<void> {
      stack.listener.kill("SIGTERM");
      await stack.listener.exited;
      await stack.startListener();
    },
    async killHostsRelay(): Promise<void> {
      if (nodes[0] !== undefined) return await nodes[0].kill();
      stack.relay.kill("SIGKILL");
      await stack.relay.exited;
    },
    async pairLink(): Promise<string> {
      const { code, stdout, stderr } = await stack.svc("pair", "--json");
      if (code !== 0) throw new Error(`svc pair failed: ${stderr}`);
      return JSON.parse(stdout).url;
    },
    async [Symbol.asyncDispose]() {
      for (const server of nats) await server.stop("SIGKILL");
      await sandbox[Symbol.asyncDispose]();
    },
  };
  if (listener) await stack.startListener();
  return stack;
}

function startedAs(run: StartOptions, { launch, env }: StartOptions): StartOptions {
  return { ...run, ...(launch ? { launch } : {}), ...(env ? { env: { ...run.env, ...env } } : {}) };
}

/** The line of `svc server` that scripts wait for. */
export const RELAY_READY = /^svc server listening on (http:\/\/(\S+)) \((ws:\/\/\S+)\)$/;

async function ownRelay(
  { serve, data }: { serve(listen: string): Started; data: string },
): Promise<Pick<Stack, "relay" | "url" | "wsUrl" | "apiKey">> {
  const { relay, url, wsUrl } = await ready(serve("127.0.0.1:0"));
  return { relay, url, wsUrl, apiKey: await newKey(data, ["push:read", "push:send", "admin"]) };
}

async function startNode(serve: (listen: string) => Started): Promise<RelayNode> {
  let relay = serve("127.0.0.1:0");
  const { url, wsUrl } = await ready(relay);
  const kill = async (): Promise<void> => {
    relay.kill("SIGKILL");
    await relay.exited;
  };
  return {
    wsUrl,
    kill,
    async killAndStart(): Promise<void> {
      await kill();
      relay = serve(new URL(url).host);
      await ready(relay);
    },
  };
}

async function ready(relay: Started): Promise<Pick<Stack, "relay" | "url" | "wsUrl">> {
  const [, url = "", , wsUrl = ""] = await relay.line(RELAY_READY);
  return { relay, url, wsUrl };
}

/** How many polls in a row must find the same number of prompts. */
const QUIET_POLLS = 4;

async function quietPrompts(read: () => Promise<string[]>, atLeast: number): Promise<string[]> {
  let last = -1;
  let same = 0;
  return await until(`a transcript with ${atLeast} prompts or more`, async () => {
    const prompts = await read();
    same = prompts.length === last ? same + 1 : 0;
    last = prompts.length;
    return same >= QUIET_POLLS && last >= atLeast && prompts;
  });
}

let echoes = 0;

async function startEcho({ sandbox, launch }: Stack, project: string | undefined): Promise<EchoSession> {
  const cwd = project === undefined ? sandbox.project : `${sandbox.root}/${project}`;
  await Deno.mkdir(cwd, { recursive: true });
  const transcript = `${sandbox.root}/transcript-${++echoes}.jsonl`;
  const control = `${sandbox.root}/echo-${echoes}.sock`;
  const files = ["--transcript", transcript, "--control", control];
  const { code, stdout, stderr } = await runSvc(sandbox, ["--detach", "echo", ...files], { launch, cwd });
  if (code !== 0) throw new Error(`svc --detach echo failed: ${stderr}`);
  const name = stdout.trim();
  const screen = (): Promise<string> => sandbox.screen(name);
  await until("the echo agent's input line", async () => /^❯/mu.test(await screen()));
  const entries = (): Promise<TranscriptEntry[]> => readTranscript(transcript);
  const read = async (): Promise<string[]> => promptsIn(await entries());
  return {
    name,
    entries,
    screen,
    prompts: (atLeast = 0) => quietPrompts(read, atLeast),
    control: (request) => controlEcho(control, request),
  };
}
