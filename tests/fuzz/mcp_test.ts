/** The MCP server's input: after any line it still lists its tools, and prints only messages. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { serveMcp } from "../../src/mcp/serve.ts";
import { TOOLS } from "../../src/mcp/tools.ts";
import { FakeClock } from "../helpers/fake_clock.ts";
import { anyText, fuzzAsync } from "./cases.ts";
import { nearSchema } from "./near_schema.ts";

/** The server, with answers that can be awaited by their id. */
class Server {
  readonly served: Promise<void>;
  readonly #waiting = new Map<unknown, (message: Message) => void>();
  readonly #lines: string[] = [];
  #wake: () => void = () => {};
  #isOver = false;

  constructor() {
    this.served = serveMcp({
      lines: { read: this.#read(), write: (text) => this.#take(text) },
      settings: () => Promise.reject(new Error("not set up")),
      sealing: () => Promise.reject(new Error("not set up")),
      hostname: "host",
      session: "svc-p",
      version: "1.0.0",
      clock: new FakeClock(),
      random: () => 0,
      reportWaiting: () => {},
      onStop: () => {},
    });
  }

  send(line: string): void {
    this.#lines.push(line);
    this.#wake();
  }

  async ask(id: string, method: string, params: Record<string, unknown> = {}): Promise<Message> {
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return await answered;
  }

  end(): Promise<void> {
    this.#isOver = true;
    this.#wake();
    return this.served;
  }

  #take(text: string): void {
    for (const line of text.trimEnd().split("\n")) {
      const message: Message = JSON.parse(line);
      assert.equal(message.jsonrpc, "2.0");
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    }
  }

  async *#read(): AsyncGenerator<string> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) yield line;
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}

interface Message {
  jsonrpc: string;
  id: unknown;
  result?: { tools?: unknown[] };
}

const METHODS = [
  ...[
    "tools/call",
    "tools/list",
    "ping",
    "initialize",
    "notifications/cancelled",
    "notifications/initialized",
  ],
  ...["resources/list", "prompts/get", "completion/complete", "logging/setLevel", "__proto__", ""],
];
const anyId = fc.oneof(fc.integer(), fc.constantFrom("a", null, true, -0, 1e300), anyText);
const callOf = TOOLS.map(({ name, input }) => nearSchema(input).map((given) => ({ name, arguments: given })));
const params = fc.oneof(
  { arbitrary: fc.oneof(...callOf), weight: 6 },
  { arbitrary: fc.jsonValue(), weight: 2 },
  { arbitrary: fc.record({ requestId: anyId, _meta: fc.record({ progressToken: anyId }) }), weight: 1 },
);
const message = fc.record({
  jsonrpc: fc.oneof({ arbitrary: fc.constant("2.0"), weight: 9 }, fc.jsonValue()),
  id: anyId,
  method: fc.oneof({ arbitrary: fc.constantFrom(...METHODS), weight: 9 }, anyText),
  params,
}, { requiredKeys: [] });
const line = fc.oneof(
  { arbitrary: message.map((one) => JSON.stringify(one, plain) ?? ""), weight: 8 },
  { arbitrary: fc.array(message, { maxLength: 3 }).map((all) => JSON.stringify(all, plain)), weight: 1 },
  { arbitrary: anyText.map((text) => text.replaceAll("\n", " ")), weight: 1 },
);

function plain(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

Deno.test("after any line the MCP server answers the next request [fuzz-100k]", async () => {
  const server = new Server();
  await server.ask("init", "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "fuzz", version: "1" },
  });
  let n = 0;
  await fuzzAsync("mcp input", line, {
    holds: async (text) => {
      server.send(text);
      const { result } = await server.ask(`check-${n++}`, "tools/list");
      assert.equal(result?.tools?.length, TOOLS.length);
    },
  });
  await server.end();
});
