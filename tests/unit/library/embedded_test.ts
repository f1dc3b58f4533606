/** The library's relay and MCP server where a program uses them wrongly, or ends them early. */
import assert from "node:assert/strict";
import { createMcpServer, type McpServer } from "../../../src/library/embedded.ts";

async function withDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "svc-test-" });
  try {
    await body(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** An MCP server whose relay nothing reaches. */
function serverIn(svcHome: string): McpServer {
  const relay = { baseUrl: "http://127.0.0.1:1", wsUrl: "ws://127.0.0.1:1/ws", apiKey: "svc_0" };
  return createMcpServer({ ...relay, svcHome });
}

/** Lines of a client that stays and says nothing. */
function silence(): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
}

Deno.test("an MCP server that is closed while it starts, or before, serves nobody [lib-mcp]", () =>
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
