/** The MCP server in this process, between the protocol's own client and a real relay. */
import {
  Client,
  deserializeMessage,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { createRelayApi, type RelayApi } from "../../src/client/api.ts";
import type { HostSealing } from "../../src/home/host_sealing.ts";
import type { RelaySettings } from "../../src/mcp/ask_client.ts";
import { type McpHost, serveMcp } from "../../src/mcp/serve.ts";
import type { Scope } from "../../src/protocol/http.ts";
import type { Push, PushRecord } from "../../src/protocol/push.ts";
import { createKey } from "../../src/relay/api_keys.ts";
import { type RunningRelay, startRelay } from "../../src/relay/server.ts";
import { openStore } from "../../src/store/sqlite.ts";
import { FakeClock } from "./fake_clock.ts";
import { until } from "./until.ts";

/** The client's end of two line queues. */
class LinePair implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #waiting: string[] = [];
  #ended = false;
  #wake: () => void = () => {};

  readonly server = {
    read: this.#read(),
    write: (text: string): void => this.onmessage?.(deserializeMessage(text)),
  };

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#waiting.push(JSON.stringify(message));
    this.#wake();
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#ended = true;
    this.#wake();
    this.onclose?.();
    return Promise.resolve();
  }

  async *#read(): AsyncGenerator<string> {
    for (;;) {
      const line = this.#waiting.shift();
      if (line !== undefined) yield line;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}

/** The sealing of a host without a paired phone. */
const PLAIN: HostSealing = {
  seal: (push) => Promise.resolve(push),
  openAnswer: () => Promise.resolve(undefined),
};

export interface Connected {
  client: Client;
  clock: FakeClock;
  /** Resolves when the server has ended. */
  served: Promise<void>;
}

/** Starts the server and initializes it as a client. */
export async function connectMcp(host: Partial<McpHost>): Promise<Connected> {
  const lines = new LinePair();
  const clock = new FakeClock();
  const served = serveMcp({
    lines: lines.server,
    settings: () => Promise.reject(new Error("not set up")),
    sealing: () => Promise.resolve(PLAIN),
    hostname: "workstation",
    session: "svc-proj",
    version: "1.0.0",
    clock,
    random: () => 0,
    reportWaiting: () => {},
    onStop: () => {},
    ...host,
  });
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(lines);
  return { client, clock, served };
}

/** A relay on a free port, whose questions a test answers as a phone. */
export class PhoneSide {
  readonly #dataDir: string;
  relay!: RunningRelay;
  api!: RelayApi;
  settings!: RelaySettings;

  private constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  static async start(directory: string): Promise<PhoneSide> {
    const side = new PhoneSide(`${directory}/data`);
    await side.startRelay("127.0.0.1:0");
    const apiKey = await side.key("push:read", "push:send");
    const { url: baseUrl, wsUrl } = side.relay;
    side.settings = { baseUrl, wsUrl, apiKey };
    side.api = createRelayApi({ baseUrl, apiKey, fetch: fetchOnce });
    return side;
  }

  async startRelay(listen = `127.0.0.1:${this.relay.port}`): Promise<void> {
    this.relay = await startRelay({ listen, dataDir: this.#dataDir });
  }

  async key(...scopes: Scope[]): Promise<string> {
    const store = await openStore(this.#dataDir, { busyMs: 1_000 });
    const { key } = await createKey(store, { name: "test", scopes });
    await store.close();
    return key;
  }

  async pushes(type: string): Promise<PushRecord[]> {
    const { pushes } = await this.api.listPushes({ before: "end", limit: 200 });
    return pushes.filter(({ push }) => push.type === type);
  }

  /** Resolves with the open question that has this text. */
  async asked(text: string): Promise<Push> {
    const found = await until(
      `the question "${text}"`,
      async () =>
        (await this.pushes("ask")).find(({ push, receipt }) => push.body === text && !receipt.final),
    );
    return found.push;
  }

  async answer({ id }: Push, fields: { body?: string; data?: Record<string, unknown> }): Promise<string> {
    return (await this.api.sendPush({ type: "ask.answer", inReplyTo: id, ...fields })).id;
  }
}

/** Lets a call's time run out and returns its result: a phone may see the question before its asker begins to wait. */
export async function runOut<T>(clock: FakeClock, call: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => void (isOver = true);
  call.then(over, over);
  await until("the end of the question's time", () => {
    if (!isOver) clock.advance(10_000);
    return isOver;
  });
  return await call;
}

/** Fetches without keep-alive: a relay that stops would wait for an open connection. */
function fetchOnce(url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("connection", "close");
  return fetch(url, { ...init, headers });
}

/** Returns the text of a tool's result. */
export function textOf(result: { content?: unknown }): string {
  const [first] = result.content as { text?: string }[];
  return first?.text ?? "";
}
