/** Serves the tools over MCP until the client is gone, and reports the progress of calls. */
import {
  deserializeMessage,
  type JSONRPCMessage,
  McpServer,
  serializeMessage,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import type { Clock } from "../async/clock.ts";
import { relayErrorText } from "../client/certificate_fault.ts";
import type { SecondOutlet } from "../home/config.ts";
import type { HostSealing } from "../home/host_sealing.ts";
import type { CutLine } from "../runtime/input.ts";
import { AskClient, identify, type RelaySettings } from "./ask_client.ts";
import type { WaitingReport } from "./follow_question.ts";
import { type Call, errorResult, type Tool, TOOLS, toolSchema } from "./tools.ts";

/** The session of the agent. */
export interface AskingSession {
  name: string;
  /** The run of its agent; undefined if it is unknown. */
  run?: string;
}

export interface McpHost {
  lines: Lines;
  /** Called at each tool call. Throws an Error that names what is missing. */
  settings(): Promise<RelaySettings>;
  /** Seals what is sent through the relay, once a phone is paired. */
  sealing(settings: RelaySettings): Promise<HostSealing>;
  hostname: string;
  /** `SVC_SESSION`: the name with which the session began. */
  session: string | undefined;
  /** The current session, read at each tool call: it may have been renamed, and another one may have its old name. */
  sessionNow?(): Promise<AskingSession | undefined>;
  /** True if the agent's project is muted, read at each tool call. */
  isMuted?(): Promise<boolean>;
  version: string;
  clock: Clock;
  random: () => number;
  /** Reports to the listener that the agent waits for its user, or no longer does. Must not throw. */
  reportWaiting(report: WaitingReport): void;
  /** Where a question is also sent if no one has seen it on a phone; read for each question. */
  secondOutlet?(): Promise<SecondOutlet | undefined>;
  /** Registers `stop`, which is called when the process should end. */
  onStop(stop: () => void): void;
}

const INSTRUCTIONS =
  "Reaches the user of this session on their phone. svc_ask, svc_prompt and svc_input wait for an answer; svc_notify does not.";

/** The tools change nothing but the user's screen. Some clients ask for permission before any other kind of tool. */
const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

/** Resolves when the client is gone and its open questions are withdrawn. */
export async function serveMcp(host: McpHost): Promise<void> {
  const client = new LazyAskClient(host);
  const server = new McpServer({ name: "svc", version: host.version }, {
    capabilities: { tools: { listChanged: false } },
    instructions: INSTRUCTIONS,
  });
  for (const tool of TOOLS) register(server, { tool, client, host });
  const transport = new LineTransport(host.lines);
  host.onStop(() => void transport.close());
  await server.connect(transport);
  await transport.ended;
  await client.close();
}

interface Registration {
  tool: Tool;
  client: LazyAskClient;
  host: Pick<McpHost, "clock" | "isMuted">;
}

const MUTED =
  "Nothing was sent: the user muted this project, so its questions and notes do not reach the phone, and no answer could come back. Ask the user in the terminal instead. They undo it with: svc unmute";

function register(server: McpServer, { tool, client, host: { clock, isMuted } }: Registration): void {
  const { name, description, input } = tool;
  const config = { description, inputSchema: toolSchema(input), annotations: ANNOTATIONS };
  server.registerTool(name, config, async (args, context) => {
    try {
      const opened = await client.open();
      if (await isMuted?.()) return errorResult(MUTED);
      return await tool.run(args, callOf(context, { client: opened, clock }));
    } catch (error) {
      if (context.mcpReq.signal.aborted) throw error;
      return errorResult(relayErrorText(error));
    }
  });
}

function callOf({ mcpReq }: ServerContext, { client, clock }: { client: AskClient; clock: Clock }): Call {
  const progressToken = mcpReq._meta?.progressToken;
  return {
    client,
    signal: mcpReq.signal,
    async withProgress(totalSeconds, wait) {
      if (progressToken === undefined) return await wait;
      const notify = (progress: Progress): void => {
        const params = { progressToken, ...progress };
        // Fails when the client is gone: then its call is aborted too.
        mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
      };
      const stop = startProgress(notify, { clock, totalSeconds });
      return await wait.finally(stop);
    },
  };
}

interface KeyedClient {
  /** The settings and the session that it was made with. */
  key: string;
  client: Promise<AskClient>;
}

/** The client for the current settings and session at each call: both may change while the agent runs. */
class LazyAskClient {
  readonly #host: McpHost;
  #current: KeyedClient | undefined;
  /** Clients for earlier settings, until their questions have ended. */
  readonly #ending = new Set<Promise<void>>();

  constructor(host: McpHost) {
    this.#host = host;
  }

  async open(): Promise<AskClient> {
    const current = await this.#forSettings();
    try {
      return await current.client;
    } catch (error) {
      if (this.#current === current) this.#current = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#current !== undefined) this.#end(this.#current);
    await Promise.all(this.#ending);
  }

  async #forSettings(): Promise<KeyedClient> {
    const settings = await this.#host.settings().catch((error) => {
      // Settings that worked are kept while the file cannot be read.
      if (this.#current === undefined) throw error;
      return undefined;
    });
    const began = this.#host.session;
    const session = await this.#host.sessionNow?.() ?? (began === undefined ? undefined : { name: began });
    const before = this.#current;
    const key = JSON.stringify([settings, session]);
    if (before !== undefined && (settings === undefined || before.key === key)) return before;
    if (settings === undefined) return await this.#forSettings();
    const made = { key, client: this.#make(settings, session) };
    this.#current = made;
    if (before !== undefined) this.#end(before);
    return made;
  }

  #end({ client }: KeyedClient): void {
    const ending = client.then((opened) => opened.close(), () => {}).finally(() =>
      this.#ending.delete(ending)
    );
    this.#ending.add(ending);
  }

  async #make(settings: RelaySettings, session: AskingSession | undefined): Promise<AskClient> {
    const { version, clock, random, hostname } = this.#host;
    const { name, run } = session ?? {};
    const sealing = await this.#host.sealing(settings);
    const reportWaiting = (report: WaitingReport): void => this.#host.reportWaiting(report);
    return new AskClient({
      settings,
      sealing,
      identity: await identify({ hostname, session: name, run, apiKey: settings.apiKey }),
      version,
      clock,
      random,
      reportWaiting,
      secondOutlet: async () => await this.#host.secondOutlet?.(),
    });
  }
}

export const PROGRESS_EVERY_MS = 20_000;

export interface Progress {
  /** Seconds. */
  progress: number;
  /** Seconds. */
  total: number;
  message: string;
}

/** Reports how long a call has waited, so that its client does not give up. Returns a function that stops it. */
export function startProgress(
  notify: (progress: Progress) => void,
  { clock, totalSeconds }: { clock: Clock; totalSeconds: number },
): () => void {
  const start = clock.elapsed();
  let cancel = (): void => {};
  const next = (): void => {
    cancel = clock.after(PROGRESS_EVERY_MS, () => {
      const waited = Math.round((clock.elapsed() - start) / 1_000);
      const message = `Waiting for an answer from the phone: ${waited} s of ${totalSeconds} s`;
      notify({ progress: waited, total: totalSeconds, message });
      next();
    });
  };
  next();
  return () => cancel();
}

export interface Lines {
  /** Ends when the client is gone. */
  read: AsyncIterable<string>;
  write(text: string): void;
}

/** One JSON-RPC message per line. The library's own transport needs Node's streams, which take longer to load in Deno than all of svc mcp. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  /** Resolves when the client is gone. */
  readonly ended: Promise<void>;
  readonly #lines: Lines;
  #end!: () => void;

  constructor(lines: Lines) {
    this.#lines = lines;
    this.ended = new Promise((resolve) => this.#end = resolve);
  }

  start(): Promise<void> {
    void this.#read();
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    try {
      this.#lines.write(serializeMessage(message));
      return Promise.resolve();
    } catch (error) {
      void this.close();
      return Promise.reject(error);
    }
  }

  close(): Promise<void> {
    this.onclose?.();
    this.onclose = undefined;
    this.#end();
    return Promise.resolve();
  }

  /** A failed read means that the client is gone: a killed one may reset the connection instead of closing it. */
  async #read(): Promise<void> {
    try {
      for await (const line of this.#lines.read) this.#take(line);
    } catch (error) {
      this.#report(error);
    }
    await this.close();
  }

  #take(line: string): void {
    for (const message of this.#messagesOf(line)) this.#takeOne(message);
  }

  /** A batch, as revision 2025-03-26 allows it, has several; each is answered by itself. */
  #messagesOf(line: string): string[] {
    if (!line.trimStart().startsWith("[")) return [line];
    try {
      return JSON.parse(line).map((message: unknown) => JSON.stringify(message));
    } catch (error) {
      this.#report(error);
      return [];
    }
  }

  /** Skips what is not a message: the protocol has no answer for it. */
  #takeOne(message: string): void {
    if (message.trim() === "") return;
    try {
      this.onmessage?.(deserializeMessage(message));
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}

const ID = String.raw`"id"\s*:\s*(-?\d+|"[^"\\]*")`;
/** An id before the parameters: only members with short, plain values come before it. */
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*${ID}\s*,`);
/** An id after the parameters. What it closes is the message, because nothing follows. */
const ID_LAST = new RegExp(String.raw`[,{]\s*${ID}\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$`);

/** JSON-RPC's code for a request that cannot be processed as it is. */
const INVALID_REQUEST = -32_600;

/**
 * The line that refuses a request that is too long to be read, so that its call fails instead of waiting. Undefined if it
 * has no id that can be found: a notification gets no answer.
 */
export function refuseLongLine({ head, tail }: CutLine, maxBytes: number): string | undefined {
  const id = (ID_FIRST.exec(head) ?? ID_LAST.exec(tail))?.[1];
  if (id === undefined) return undefined;
  const message = `Cannot read this request: a message may have at most ${maxBytes} bytes`;
  return `${
    JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(id), error: { code: INVALID_REQUEST, message } })
  }\n`;
}
