/** The library's relay and MCP server if a program uses them wrongly, or ends them early. */
import assert from "node:assert/strict";
import { createMcpServer, type McpServer, startRelay } from "../../../src/library/embedded.ts";

async function withDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "svc-test-" });
  try {
    await body(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Returns an MCP server whose relay cannot be reached. */
function serverIn(svcHome: string): McpServer {
  const relay = { baseUrl: "http://127.0.0.1:1", wsUrl: "ws://127.0.0.1:1/ws", apiKey: "svc_0" };
  return createMcpServer({ ...relay, svcHome });
}

/** Yields no line, as a client that stays connected and sends nothing. */
function silence(): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
}

Deno.test("an MCP server that is closed before or while it starts serves no client [lib-mcp]", () =>
  withDirectory(async (home) => {
    const server = serverIn(home);
    const serving = server.serve({ read: silence(), write: () => {} });
    server.close();
    await serving;
    await server.serve({ read: silence(), write: () => {} });
    server.close();
  }));

Deno.test("an MCP server ends when its client's lines cannot be read [lib-mcp]", () =>
  withDirectory(async (home) => {
    const broken: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("connection reset")) }),
    };
    await serverIn(home).serve({ read: broken, write: () => {} });
  }));

Deno.test("a relay does not start with an unusable certificate or address [lib-relay]", () =>
  withDirectory(async (dataDir) => {
    const options = { listen: "127.0.0.1:0", dataDir };
    const refused = async (wrong: Partial<Parameters<typeof startRelay>[0]>, why: RegExp): Promise<void> => {
      const started = startRelay({ ...options, ...wrong }).then(async (relay) => {
        await relay.stop();
        return "started";
      });
      await assert.rejects(started, why);
    };
    await refused({ tls: { cert: "", key: "" } }, /^TypeError: Cannot use the TLS options: cert contains no/);
    await refused({ publicUrl: "relay.example" }, /^TypeError: Cannot use the publicUrl "relay\.example"/);
  }));

Deno.test("a key needs existing scopes [lib-relay]", () =>
  withDirectory(async (dataDir) => {
    const relay = await startRelay({ listen: "127.0.0.1:0", dataDir });
    try {
      const wrong = ["push"] as unknown as ["admin"];
      const why = /^TypeError: Cannot create the key "bot": "push" is not a scope; the scopes are push:send/;
      await assert.rejects(relay.createKey({ name: "bot", scopes: wrong }), why);
      await assert.rejects(relay.createKey({ name: "bot", scopes: [] }), /it has no scope/);
      assert.match(await relay.createKey({ name: "bot", scopes: ["admin"] }), /^svc_/);
    } finally {
      await relay.stop();
    }
  }));
