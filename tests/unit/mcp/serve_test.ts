/** Progress every 20 seconds until the wait ends; and the end of the server, however its client disconnects. */
import assert from "node:assert/strict";
import { createMcpServer } from "../../../mod.ts";
import { LineTransport, type Progress, PROGRESS_EVERY_MS, startProgress } from "../../../src/mcp/serve.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

Deno.test("progress grows with the time waited and stops when the wait ends [mcp-progress]", () => {
  const clock = new FakeClock();
  const sent: Progress[] = [];
  const stop = startProgress((progress) => void sent.push(progress), { clock, totalSeconds: 300 });
  clock.advance(2 * PROGRESS_EVERY_MS);
  assert.deepEqual(sent.map(({ progress, total }) => [progress, total]), [[20, 300], [40, 300]]);
  assert.match(sent[1]?.message ?? "", /40 s of 300 s/);
  stop();
  clock.advance(PROGRESS_EVERY_MS);
  assert.deepEqual([sent.length, clock.pending], [2, 0]);
});

Deno.test("input that fails ends the server like input that ends", async () => {
  async function* read(): AsyncGenerator<string> {
    yield '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    throw new Error("connection reset");
  }
  const transport = new LineTransport({ read: read(), write: () => {} });
  const [taken, faults]: [unknown[], string[]] = [[], []];
  let isClosed = false;
  transport.onmessage = (message) => void taken.push(message);
  transport.onerror = ({ message }) => void faults.push(message);
  transport.onclose = () => isClosed = true;
  await transport.start();
  await transport.ended;
  assert.deepEqual([taken.length, faults, isClosed], [1, ["connection reset"], true]);
});

Deno.test("the requests of a batch are answered, and what is no message in it is skipped [mcp-batch]", async () => {
  const ping = (id: number): unknown => ({ jsonrpc: "2.0", id, method: "ping" });
  async function* read(): AsyncGenerator<string> {
    yield JSON.stringify([ping(1), { id: 2 }, ping(3)]);
    yield "[";
    yield "[]";
    yield JSON.stringify(ping(4));
  }
  const transport = new LineTransport({ read: read(), write: () => {} });
  const taken: unknown[] = [];
  let faults = 0;
  transport.onmessage = (message) => void taken.push("id" in message && message.id);
  transport.onerror = () => void faults++;
  await transport.start();
  await transport.ended;
  assert.deepEqual([taken, faults], [[1, 3, 4], 2]);
});

async function* once(line: Promise<string>): AsyncGenerator<string> {
  yield await line;
}

Deno.test("an embedded server that is closed while it starts serves no client [lib-mcp]", async () => {
  const svcHome = await Deno.makeTempDir({ prefix: "svc-mcp-" });
  try {
    const address = "127.0.0.1:1";
    const settings = { baseUrl: `http://${address}`, wsUrl: `ws://${address}`, apiKey: "k", svcHome };
    const server = createMcpServer(settings);
    const input = Promise.withResolvers<string>();
    const written: string[] = [];
    const served = server.serve({ read: once(input.promise), write: (text) => void written.push(text) });
    server.close();
    await served;
    input.resolve('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    assert.deepEqual(written, []);
  } finally {
    await Deno.remove(svcHome, { recursive: true });
  }
});
