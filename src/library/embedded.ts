/** Relay, listener and MCP server for programs that embed them; the code of each is loaded when it is started. */
import { type Scope, SCOPES } from "../protocol/http.ts";
import type { TlsFault } from "../runtime/tls_files.ts";

export interface RelayOptions {
  /** `host:port`; port 0 chooses a free port. */
  listen: string;
  /** The folder of its store; created if it is missing. */
  dataDir: string;
  /** Where others reach this relay, by http or https; shown in the OpenAPI document. */
  publicUrl?: string;
  /** PEM texts. */
  tls?: { cert: string; key: string };
  /** Serves the phone's web app at `/`. */
  phoneApp?: boolean;
  /** Receives log lines; never a key, a body or a frame. */
  log?(line: string): void;
}

export interface Relay {
  /** `http://host:port`, without a trailing slash. */
  url: string;
  wsUrl: string;
  port: number;
  /** Creates an API key, which cannot be read again. Rejects with TypeError for no scope or an unknown one. */
  createKey(key: { name: string; scopes: readonly Scope[] }): Promise<string>;
  /** Stops accepting, closes clients and finishes running requests; takes less than 5 seconds. */
  stop(): Promise<void>;
}

/**
 * Starts a relay in this process, on Deno or Node. Resolves once it accepts requests; rejects when it cannot listen on
 * the address or cannot open its store, and with TypeError for an option that it cannot use.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createRelayApi, startRelay } from "@svc/svc";
 *
 * const dataDir = await Deno.makeTempDir();
 * const relay = await startRelay({ listen: "127.0.0.1:0", dataDir });
 * const apiKey = await relay.createKey({ name: "script", scopes: ["push:read", "push:send"] });
 * const api = createRelayApi({ baseUrl: relay.url, apiKey });
 * assert.deepEqual((await api.listPushes()).pushes, []);
 * await relay.stop();
 * ```
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { listen, dataDir, publicUrl, tls, log } = options;
  checkPublicUrl(publicUrl);
  if (tls !== undefined) await checkTls(tls);
  const [server, { createKey }, { openStore }, { phoneDirectory }] = await Promise.all([
    import("../relay/server.ts"),
    import("../relay/api_keys.ts"),
    import("../store/sqlite.ts"),
    import("../cli/context.ts"),
  ]);
  const { url, wsUrl, port, stop } = await server.startRelay({
    listen,
    dataDir,
    publicUrl,
    tls,
    log,
    phoneDirectory: options.phoneApp ? await phoneDirectory() : undefined,
  });
  return {
    url,
    wsUrl,
    port,
    stop,
    async createKey(key) {
      checkScopes(key);
      const store = await openStore(dataDir);
      try {
        return (await createKey(store, key)).key;
      } finally {
        await store.close();
      }
    },
  };
}

/** Throws TypeError at the start, because the URL is first used when a request arrives. */
function checkPublicUrl(text: string | undefined): void {
  if (text === undefined || (/^https?:\/\//.test(text) && URL.canParse(text))) return;
  throw new TypeError(`Cannot use the publicUrl "${text}": give one such as https://relay.example`);
}

/** Throws TypeError for PEM texts with which a server would start but no client could connect. */
async function checkTls(tls: { cert: string; key: string }): Promise<void> {
  const { tlsFault } = await import("../runtime/tls_files.ts");
  const fault = tlsFault(tls);
  if (fault !== undefined) throw new TypeError(`Cannot use the TLS options: ${TLS_FAULTS[fault]}`);
}

const TLS_FAULTS: Record<TlsFault, string> = {
  certificate: "cert contains no certificate in PEM form",
  key: "key contains no private key in PEM form without a passphrase",
  pair: "key does not belong to the first certificate in cert",
};

function checkScopes({ name, scopes }: { name: string; scopes: readonly string[] }): void {
  const unknown = scopes.find((scope) => !SCOPES.some((known) => known === scope));
  if (unknown === undefined && scopes.length > 0) return;
  const why = unknown === undefined ? "it has no scope" : `"${unknown}" is not a scope`;
  throw new TypeError(`Cannot create the key "${name}": ${why}; the scopes are ${SCOPES.join(", ")}`);
}

export interface ListenerOptions {
  /** The relay's WebSocket address. */
  wsUrl: string;
  /** A key with the scopes push:read and push:send. */
  apiKey: string;
  /** The folder with its configuration, journal and keys; by default `SVC_HOME` or `~/.svc`. */
  svcHome?: string;
  /** Receives the lines of listener.log. */
  log?(line: string): void;
}

export interface Listener {
  /** Resolves once it has stopped, even if `svc listener --stop` did that. */
  ended: Promise<void>;
  /** Finishes the current injection, then closes every connection. */
  stop(): Promise<void>;
}

/**
 * Starts a listener in this process, on Deno or Node: it types messages into the tmux sessions of this machine, as `svc
 * listener` does. Resolves once it runs, connected or not; rejects when another one uses the same folder.
 */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const [{ runListener }, { accountPaths }, { addressInputs, listenerSettings }] = await Promise.all([
    import("../cli/run_listener.ts"),
    import("../cli/context.ts"),
    import("../cli/settings.ts"),
  ]);
  const paths = await accountPaths(options.svcHome);
  const { config } = await addressInputs(paths);
  const given = { config: { wsUrl: options.wsUrl, apiKey: options.apiKey }, env: {} };
  const stops: (() => void)[] = [];
  const ready = Promise.withResolvers<void>();
  let last = "it ended at once";
  const ending = runListener(paths, {
    ...listenerSettings(paths, given),
    config,
    background: false,
    standby: false,
    show(line) {
      last = line;
      options.log?.(line);
    },
    onSignal: (_signal, stop) => {
      stops.push(stop);
      return () => {};
    },
    started: ready.resolve,
  });
  const ended = ending.then(() => {});
  await Promise.race([ready.promise, ended.then(() => Promise.reject(new Error(last)))]);
  return {
    ended,
    async stop() {
      stops[0]?.();
      await ended;
    },
  };
}

export interface McpServerOptions {
  /** The relay's addresses. */
  baseUrl: string;
  wsUrl: string;
  /** A key with the scopes push:read and push:send. */
  apiKey: string;
  /** The name of the tmux session whose agent asks. */
  session?: string;
  /** The folder with this host's keys; by default `SVC_HOME` or `~/.svc`. */
  svcHome?: string;
}

export interface McpServer {
  /** Serves one client, one JSON-RPC message per line; resolves when its lines end or fail, or the server is closed. */
  serve(lines: { read: AsyncIterable<string>; write(text: string): void }): Promise<void>;
  close(): void;
}

/** Creates an MCP server, on Deno or Node, with svc_ask, svc_prompt, svc_input and svc_notify for the user's phone. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { baseUrl, wsUrl, apiKey, session } = options;
  const closed = new AbortController();
  const { signal } = closed;
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
      let stop = (): void => {};
      await serveMcp({
        lines,
        hostname,
        session,
        settings: () => Promise.resolve({ baseUrl, wsUrl, apiKey }),
        sealing: (settings) => mcpSealing(settings, paths),
        version: VERSION,
        clock: systemClock,
        random: Math.random,
        reportWaiting: () => {},
        onStop(end) {
          stop = end;
          // It may have been closed while its code was loaded.
          if (signal.aborted) stop();
          else signal.addEventListener("abort", stop);
        },
      }).finally(() => signal.removeEventListener("abort", stop));
    },
    close: () => closed.abort(),
  };
}
