/**
 * The MCP server embedded in your own program, on standard input and output.
 *
 * SVC_BASE_URL=http://localhost:7420 SVC_API_KEY=svc_… deno run -A examples/mcp_server.ts
 *
 * An agent that starts it can ask its user on their phone. The key needs the scopes push:read and push:send.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { createMcpServer, wsFromHttpBase } from "../mod.ts";

const { SVC_BASE_URL: baseUrl = "http://localhost:7420", SVC_API_KEY: apiKey = "" } = process.env;
const { SVC_SESSION: session } = process.env;

/** A readline interface drops lines that arrive before it is read, so the first read creates it. */
async function* readLines(): AsyncGenerator<string> {
  yield* createInterface({ input: process.stdin });
}

const server = createMcpServer({
  baseUrl,
  wsUrl: wsFromHttpBase(baseUrl),
  apiKey,
  ...(session === undefined ? {} : { session }),
});
await server.serve({
  read: readLines(),
  write: (text) => process.stdout.write(text),
});
