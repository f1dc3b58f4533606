/** The MCP server for programs that embed it; its code is loaded when it serves. */

export interface McpServerOptions {
  /** The relay's addresses. */
  baseUrl: string;
  wsUrl: string;
  /** A key with the scopes push:read and push:send. */
  apiKey: string;
  /** The tmux session of the agent that asks, by which phones know it. */
  session?: string;
  /** The folder with this host's keys: `SVC_HOME` or `~/.svc` without it. */
  svcHome?: string;
}

export interface McpServer {
  /** Serves one client, one JSON-RPC message a line; resolves when its lines end or the server is closed. */
  serve(lines: { read: AsyncIterable<string>; write(text: string): void }): Promise<void>;
  close(): void;
}

/** The tools svc_ask, svc_prompt, svc_input and svc_notify, which reach the user on their phone; on Deno or Node. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { baseUrl, wsUrl, apiKey, session } = options;
  const stops: (() => void)[] = [];
  return {
    async serve(lines) {
      const [{ serveMcp }, { mcpSealing }, { accountPaths }, { pairingHost }] = await Promise.all([
        import("../mcp/serve.ts"),
        import("../cli/mcp.ts"),
        import("../cli/context.ts"),
        import("../cli/settings.ts"),
      ]);
      const [{ createRelayApi }, { systemClock }, { VERSION }] = await Promise.all([
        import("../client/api.ts"),
        import("../async/clock.ts"),
        import("../protocol/version.ts"),
      ]);
      const paths = await accountPaths(options.svcHome);
      const { hostname } = await pairingHost(paths, createRelayApi({ baseUrl, apiKey }));
      await serveMcp({
        ...{ lines, hostname, session },
        settings: () => Promise.resolve({ baseUrl, wsUrl, apiKey }),
        sealing: (settings) => mcpSealing(settings, paths),
        version: VERSION,
        clock: systemClock,
        random: Math.random,
        reportWaiting: () => {},
        onStop: (stop) => void stops.push(stop),
      });
    },
    close: () => stops.forEach((stop) => stop()),
  };
}
