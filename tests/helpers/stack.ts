/** The whole product on one machine: relay, listener and echo agents as real processes, and a phone's API. */
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import { waitForReceipt } from "../../src/client/wait_for_receipt.ts";
import { listenerDeviceId } from "../../src/protocol/names.ts";
import type { PushRecord, PushRequestInput } from "../../src/protocol/push.ts";
import { type Launch, type Ran, runSvc, type Started, startSvc } from "./program.ts";
import { makeSandbox, type Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

export interface Stack extends AsyncDisposable {
  sandbox: Sandbox;
  relay: Started;
  listener: Started;
  url: string;
  wsUrl: string;
  api: RelayApi;
  apiKey: string;
  deviceId: string;
  svc(...words: string[]): Promise<Ran>;
  /** Starts an echo agent; resolves with its session once the agent reads. */
  echo(): Promise<EchoSession>;
  /** Sends as a phone does; resolves with the final receipt. */
  send(session: string, body: string, more?: Partial<PushRequestInput>): Promise<PushRecord>;
  startRelay(): Promise<void>;
  startListener(): Promise<void>;
}

export interface EchoSession {
  name: string;
  /** The prompts it was given, in order, exactly. */
  prompts(): Promise<string[]>;
  /** Every entry of its transcript. */
  entries(): Promise<Record<string, unknown>[]>;
  screen(): Promise<string>;
}

export interface StackOptions {
  /** How the relay, the listener and the wrapper are started. */
  launch?: Launch;
  /** `false`: the test starts it. */
  listener?: boolean;
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

async function assemble(sandbox: Sandbox, { launch, listener = true }: StackOptions): Promise<Stack> {
  const run = { ...(launch ? { launch } : {}) };
  const data = `${sandbox.svcHome}/server`;
  const serve = (listen: string): Started =>
    startSvc(sandbox, ["server", "--listen", listen, "--data", data], run);
  const ready = /^svc server listening on (http:\/\/(\S+)) \((ws:\/\/\S+)\)$/;
  const relay = serve("127.0.0.1:0");
  const [, url = "", host = "", wsUrl = ""] = await relay.line(ready);
  const scopes = ["--scope", "push:read,push:send,admin"];
  const created = await runSvc(sandbox, [
    "keys",
    "create",
    "--name",
    "test",
    ...scopes,
    "--data",
    data,
    "--json",
  ], run);
  if (created.code !== 0) throw new Error(`svc keys create failed: ${created.stderr}`);
  const apiKey: string = JSON.parse(created.stdout).key;
  const config = JSON.stringify({ apiKey, hookId: "hook_test", wsUrl });
  await Deno.writeTextFile(`${sandbox.svcHome}/config.json`, config, { mode: 0o600 });
  const api = createRelayApi({ baseUrl: url, apiKey });
  const stack: Stack = {
    sandbox,
    relay,
    listener: relay,
    url,
    wsUrl,
    api,
    apiKey,
    deviceId: await listenerDeviceId(Deno.hostname()),
    svc: (...words) => runSvc(sandbox, words, run),
    echo: () => startEcho(stack),
    async send(session, body, more = {}): Promise<PushRecord> {
      const push = { type: "agent.command", agentSessionName: session, body, ...more };
      const { id } = await api.sendPush(push);
      return await waitForReceipt(api, id, { timeoutMs: 60_000, pollMs: 50 });
    },
    async startRelay(): Promise<void> {
      stack.relay = serve(host);
      await stack.relay.line(ready);
    },
    async startListener(): Promise<void> {
      stack.listener = startSvc(sandbox, ["listener"], run);
      await stack.listener.line(/connected to/);
    },
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
  if (listener) await stack.startListener();
  return stack;
}

/** The same at so many looks in a row: the agent writes its transcript a moment after it took the marker. */
const QUIET_LOOKS = 4;

async function quietEntries<T>(entries: () => Promise<T[]>): Promise<T[]> {
  let last: T[] = [];
  let same = 0;
  return await until("a quiet transcript", async () => {
    const now = await entries();
    same = now.length === last.length ? same + 1 : 0;
    last = now;
    return same >= QUIET_LOOKS && now;
  });
}

let echoes = 0;

async function startEcho(stack: Stack): Promise<EchoSession> {
  const { sandbox } = stack;
  const transcript = `${sandbox.root}/transcript-${++echoes}.jsonl`;
  const { code, stdout, stderr } = await stack.svc("--detach", "echo", "--transcript", transcript);
  if (code !== 0) throw new Error(`svc --detach echo failed: ${stderr}`);
  const name = stdout.trim();
  const screen = (): Promise<string> => sandbox.tmux("capture-pane", "-p", "-t", `=${name}:`);
  await until("the echo agent's input line", async () => /^❯/mu.test(await screen()));
  const entries = async (): Promise<Record<string, unknown>[]> => {
    const lines = (await Deno.readTextFile(transcript)).split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  };
  const prompts = async (): Promise<string[]> => {
    const quiet = await quietEntries(entries);
    return quiet.flatMap((entry) => typeof entry.prompt === "string" ? [entry.prompt] : []);
  };
  return { name, prompts, entries, screen };
}
