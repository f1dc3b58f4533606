/** `svc mcp` as a whole: the tools behind the protocol, until the client is gone. */
import { errorText } from "../async/error_text.ts";
import { McpServer, type ServerContext } from "@modelcontextprotocol/server";
import type { Clock } from "../async/clock.ts";
import type { ToldSealing } from "../home/host_sealing.ts";
import { AskClient, type RelaySettings } from "./ask_client.ts";
import { identify, type Identity } from "./identity.ts";
import { type Lines, LineTransport } from "./line_transport.ts";
import { type Progress, startProgress } from "./progress.ts";
import { errorResult } from "./results.ts";
import { toolSchema } from "./tool_schema.ts";
import { type Call, type Tool, TOOLS } from "./tools.ts";
import { type WaitingReport, WaitingReports } from "./waiting_reports.ts";

export interface McpHost {
  lines: Lines;
  /** Asked at the first call, and again until it gives some. Throws an Error that says what is missing. */
  settings(): Promise<RelaySettings>;
  /** What passes the relay only sealed, once a phone is paired. */
  sealing(settings: RelaySettings): Promise<ToldSealing>;
  hostname: string;
  /** `SVC_SESSION`. */
  session: string | undefined;
  version: string;
  clock: Clock;
  random: () => number;
  /** Reports to the listener that the agent waits for the person, or does so no longer. Must not throw. */
  reportWaiting(report: WaitingReport): void;
  /** Calls `stop` when the process is to end. */
  onStop(stop: () => void): void;
}

const INSTRUCTIONS =
  "Reaches the person who drives this session, on their phone. svc_ask, svc_prompt and svc_input wait for an answer; svc_notify only tells.";

/** They change nothing but what is on the person's screen: some clients ask before any other tool. */
const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

/** Resolves when the client is gone, and the relay knows that nobody waits any more. */
export async function serveMcp(host: McpHost): Promise<void> {
  const identity = await identify(host);
  const client = new LazyAskClient(host, identity);
  const server = new McpServer({ name: "svc", version: host.version }, {
    capabilities: { tools: { listChanged: false } },
    instructions: INSTRUCTIONS,
  });
  for (const tool of TOOLS) register(server, { tool, client, clock: host.clock });
  const transport = new LineTransport(host.lines);
  host.onStop(() => void transport.close());
  await server.connect(transport);
  await transport.ended;
  await client.close();
}

interface Registration {
  tool: Tool;
  client: LazyAskClient;
  clock: Clock;
}

function register(server: McpServer, { tool, client, clock }: Registration): void {
  const { name, description, input } = tool;
  const config = { description, inputSchema: toolSchema(input), annotations: ANNOTATIONS };
  server.registerTool(name, config, async (args, context) => {
    try {
      return await tool.run(args, callOf(context, { client: await client.open(), clock }));
    } catch (error) {
      if (context.mcpReq.signal.aborted) throw error;
      return errorResult(errorText(error));
    }
  });
}

function callOf({ mcpReq }: ServerContext, { client, clock }: { client: AskClient; clock: Clock }): Call {
  const progressToken = mcpReq._meta?.progressToken;
  return {
    client,
    signal: mcpReq.signal,
    async telling(totalSeconds, wait) {
      if (progressToken === undefined) return await wait;
      const tell = (progress: Progress): void => {
        const params = { progressToken, ...progress };
        // A client that is gone hears nothing any more, and its call is aborted.
        mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
      };
      const stop = startProgress(tell, { clock, totalSeconds });
      return await wait.finally(stop);
    },
  };
}

/** One client for the process, from the first call on that finds the settings complete. */
class LazyAskClient {
  readonly #host: McpHost;
  readonly #identity: Identity;
  #client: Promise<AskClient> | undefined;

  constructor(host: McpHost, identity: Identity) {
    this.#host = host;
    this.#identity = identity;
  }

  async open(): Promise<AskClient> {
    this.#client ??= this.#make();
    try {
      return await this.#client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await (await this.#client?.catch(() => undefined))?.close();
  }

  async #make(): Promise<AskClient> {
    const { version, clock, random } = this.#host;
    const settings = await this.#host.settings();
    const sealing = await this.#host.sealing(settings);
    const waiting = new WaitingReports((report) => this.#host.reportWaiting(report), clock);
    return new AskClient({ settings, sealing, identity: this.#identity, version, clock, random, waiting });
  }
}
