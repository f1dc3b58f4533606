/** The relay for programs that embed it; its code is loaded when it is started. */
import type { Scope } from "../protocol/http.ts";

export interface RelayOptions {
  /** `host:port`; port 0 chooses a free port. */
  listen: string;
  /** The folder of its store, which is created. */
  dataDir: string;
  /** Where others reach this relay; shown in the OpenAPI document. */
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
  /** An API key, which cannot be read again. */
  createKey(key: { name: string; scopes: readonly Scope[] }): Promise<string>;
  /** Stops accepting, closes clients and finishes running requests; takes less than 5 seconds. */
  stop(): Promise<void>;
}

/**
 * Starts a relay in this process, on Deno or Node. Resolves once it accepts requests; rejects when it cannot listen on
 * the address or cannot open its store.
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
  const [server, { createKey }, { openStore }, { phoneDirectory }] = await Promise.all([
    import("../relay/server.ts"),
    import("../relay/api_keys.ts"),
    import("../store/sqlite.ts"),
    import("../cli/context.ts"),
  ]);
  const { url, wsUrl, port, stop } = await server.startRelay({
    ...{ listen, dataDir, publicUrl, tls, log },
    phoneDirectory: options.phoneApp ? await phoneDirectory() : undefined,
  });
  return {
    ...{ url, wsUrl, port, stop },
    async createKey(key) {
      const store = await openStore(dataDir);
      try {
        return (await createKey(store, key)).key;
      } finally {
        await store.close();
      }
    },
  };
}
