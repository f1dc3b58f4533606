/** An asking agent's relay client: its id and name; when an unseen question goes to the second outlet, and as what. */
import assert from "node:assert/strict";
import { ASKERS_PER_HOST, identify, notifyUnseen, type OutletOutcome } from "../../../src/mcp/ask_client.ts";
import { listenerDeviceId } from "../../../src/protocol/names.ts";
import { DeviceId, type PushRecord } from "../../../src/protocol/push.ts";
import { SecondOutlet } from "../../../src/home/config.ts";
import { RelayError } from "../../../src/client/relay_error.ts";
import { problem } from "../../../src/protocol/errors.ts";
import type { Receipt } from "../../../src/protocol/receipt.ts";
import { DEVICES_PER_KEY } from "../../../src/protocol/limits.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { type Connected, connectMcp, PhoneSide, textOf } from "../../helpers/mcp_bench.ts";
import { until } from "../../helpers/until.ts";

Deno.test("a session always asks under the same id, and all sessions of a host under a few", async () => {
  const one = await identify({ hostname: "box", session: "svc-a", apiKey: "svc_1" });
  assert.deepEqual(await identify({ hostname: "box", session: "svc-a", apiKey: "svc_1" }), one);
  assert.equal(one.session, "svc-a");
  assert.equal(one.listener, await listenerDeviceId("box"));
  assert.ok(DeviceId.safeParse(one.deviceId).success);
  const sessions = Array.from({ length: 2 * DEVICES_PER_KEY }, (_, n) => `svc-${n}`);
  const ids = await Promise.all(
    [undefined, ...sessions].map(async (session) =>
      (await identify({ hostname: "box", session, apiKey: "svc_1" })).deviceId
    ),
  );
  assert.equal(new Set(ids).size, ASKERS_PER_HOST + 1, "one for agents that run in no session");
  for (const other of [{ hostname: "tub", apiKey: "svc_1" }, { hostname: "box", apiKey: "svc_2" }]) {
    assert.ok(
      !ids.includes((await identify({ ...other, session: "svc-a" })).deviceId),
      "which another key may own",
    );
  }
});

Deno.test("an invalid session name counts as none", async () => {
  for (const session of [undefined, "", "a b", "x".repeat(200)]) {
    assert.equal((await identify({ hostname: "box", session, apiKey: "svc_1" })).session, undefined);
  }
});

/** Records the durations of all timers, in milliseconds. */
class ListingClock extends FakeClock {
  readonly waits: number[] = [];

  override after(ms: number, action: () => void): () => void {
    this.waits.push(ms);
    return super.after(ms, action);
  }
}

/** Returns a tool's result when the relay refuses the question for some seconds: first with 429, then for good. */
async function refusedFor(
  retryAfter: number,
  { refusals }: { refusals: number },
): Promise<{ text: string | undefined; elapsed: number; sent: number }> {
  let sent = 0;
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => undefined };
  await using server = Deno.serve(options, async (request) => {
    await request.body?.cancel();
    if (request.method !== "POST") return new Response("no links here", { status: 404 });
    const isBusy = ++sent <= refusals;
    const headers = { "retry-after": String(retryAfter) };
    return isBusy
      ? Response.json(problem("rate_limited"), { status: 429, headers })
      : Response.json(problem("missing_scope"), { status: 403 });
  });
  const address = `127.0.0.1:${server.addr.port}`;
  const settings = { baseUrl: `http://${address}`, wsUrl: `ws://${address}`, apiKey: "k" };
  const clock = new ListingClock();
  const { client, served } = await connectMcp({ settings: () => Promise.resolve(settings), clock });
  let text: string | undefined;
  void client.callTool({ name: "svc_ask", arguments: { question: "Continue?" } })
    .then((result) => text = textOf(result), () => {});
  await until("the wait for the link", () => clock.waits.includes(3_000));
  clock.advance(3_000);
  const pauseMs = retryAfter * 1_000;
  const pauses = (): number => clock.waits.filter((ms) => ms === pauseMs).length;
  await until("an answer or a pause", () => text !== undefined || pauses() > 0);
  if (text === undefined && pauseMs < 30_000) {
    clock.advance(pauseMs);
    await until("an answer or another pause", () => text !== undefined || pauses() > 1);
  }
  const answer = text;
  await client.close();
  await served;
  return { text: answer, elapsed: clock.elapsed(), sent };
}

const refusal = (seconds: number): string =>
  `Cannot send the push: Too many requests; try again in ${seconds} s`;

Deno.test("a question that the relay refuses for longer than 30 s fails at once, with the relay's sentence", async () => {
  for (const seconds of [3_600, 999_999_999]) {
    const result = await refusedFor(seconds, { refusals: Infinity });
    assert.deepEqual(result, { text: refusal(3_600), elapsed: 3_000, sent: 1 });
  }
});

Deno.test("a question is sent again as long as the relay's pauses fit into 30 s", async () => {
  const once = await refusedFor(2, { refusals: 1 });
  assert.match(once.text ?? "", /lacks a scope/);
  assert.deepEqual([once.elapsed, once.sent], [5_000, 2]);
  const always = await refusedFor(28, { refusals: Infinity });
  assert.deepEqual(always, { text: refusal(28), elapsed: 31_000, sent: 2 });
});

const ID = "6f1c2d3e-0000-4000-8000-000000000001";
const key = { enc: "AAAA", ciphertext: "AAAA" };
const sealedFor = { host: "dev_listener_1", nonce: "AAAA", ciphertext: "AAAA", keys: { dev_phone_1: key } };
const PUSH = { id: ID, type: "ask", agentSessionName: "svc-secret-project", sealedFor };
const NTFY = { ntfy: "", afterSeconds: 30 };

interface Received {
  headers: Record<string, string>;
  text: string;
}

/** Runs a local server as the outlet, and a relay with this receipt; returns the outcome. */
async function outcomeOf(
  fields: Record<string, unknown>,
  { receipt = {}, statuses = [], abort = false }: {
    receipt?: Partial<Receipt> | "unreachable";
    statuses?: number[];
    abort?: boolean;
  } = {},
): Promise<{ outcome: OutletOutcome; received: Received[]; waited: number }> {
  const received: Received[] = [];
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => undefined };
  await using server = Deno.serve(options, async (request) => {
    received.push({ headers: Object.fromEntries(request.headers), text: await request.text() });
    return new Response("ok", { status: statuses.shift() ?? 200 });
  });
  const url = `http://127.0.0.1:${server.addr.port}/topic`;
  const outlet = SecondOutlet.parse(
    "ntfy" in fields ? { ...fields, ntfy: url } : { ...fields, webhook: url },
  );
  const clock = new FakeClock();
  const ended = new AbortController();
  const getPush = (): Promise<PushRecord> => {
    if (receipt === "unreachable") return Promise.reject(new RelayError("no relay", { code: "unreachable" }));
    const whole: Receipt = { state: "delivered", final: false, at: {}, ...receipt };
    return Promise.resolve({ push: { ...PUSH, from: "x", createdAt: 0, expiresAt: 9 }, receipt: whole });
  };
  const api = { getPush, baseUrl: "https://relay.example/" };
  let outcome: OutletOutcome | undefined;
  void notifyUnseen(PUSH, { outlet, api, clock, signal: ended.signal }).then((one) => outcome = one);
  const start = clock.now();
  await until("the wait", () => clock.pending > 0);
  if (abort) ended.abort();
  clock.advance(outlet.afterSeconds * 1_000 - 1);
  assert.equal(received.length, 0);
  const waited = clock.now() - start;
  clock.advance(1);
  const end = await until("the outcome", () => {
    clock.advance(10_000);
    return outcome;
  });
  return { outcome: end, received, waited };
}

Deno.test("an ntfy topic gets a sentence and a link, and nothing about the question [push-outlet]", async () => {
  const { outcome, received, waited } = await outcomeOf(NTFY);
  assert.equal(outcome, "sent");
  assert.equal(waited, 29_999);
  const [one] = received;
  assert.equal(one?.text, "A question waits for you");
  assert.equal(one?.headers["click"], `https://relay.example/#/inbox/${ID}`);
  assert.ok(!JSON.stringify(one).includes("secret-project"));
});

Deno.test("a webhook gets the id and a link, and the sealed text only if that is configured [push-outlet]", async () => {
  const link = `https://relay.example/#/inbox/${ID}`;
  const plain = await outcomeOf({});
  assert.deepEqual(JSON.parse(plain.received[0]?.text ?? ""), { event: "unseen_question", id: ID, link });
  const sealed = await outcomeOf({ sealed: true });
  assert.deepEqual(JSON.parse(sealed.received[0]?.text ?? "").sealedFor, sealedFor);
});

Deno.test("a question that was answered or seen stays where it is; one that was only shown, as the owner likes [push-outlet]", async () => {
  const outcome = async (
    fields: Record<string, unknown>,
    receipt: Partial<Receipt>,
  ): Promise<OutletOutcome> => (await outcomeOf(fields, { receipt })).outcome;
  assert.equal(await outcome(NTFY, { final: true, state: "answered" }), "unnecessary");
  assert.equal(await outcome(NTFY, { shown: { dev_phone_1: { sent: 1, seen: 2 } } }), "unnecessary");
  assert.equal(await outcome(NTFY, { shown: { dev_phone_1: { sent: 1, notified: 2 } } }), "sent");
  const unless = { ...NTFY, unless: "shown" };
  assert.equal(await outcome(unless, { shown: { dev_phone_1: { sent: 1, notified: 2 } } }), "unnecessary");
  assert.equal(await outcome(unless, { shown: { dev_phone_1: { sent: 1 } } }), "sent");
});

Deno.test("a failing outlet is tried three times, an unreachable relay does not prevent it, and an answered agent stops waiting [push-outlet]", async () => {
  const failing = await outcomeOf(NTFY, { statuses: [500, 503, 200] });
  assert.deepEqual([failing.outcome, failing.received.length], ["sent", 3]);
  const failed = await outcomeOf(NTFY, { statuses: [500, 500, 500, 500] });
  assert.ok(typeof failed.outcome === "object" && /answered 500/.test(failed.outcome.failure));
  assert.equal(failed.received.length, 3);
  assert.equal((await outcomeOf(NTFY, { receipt: "unreachable" })).outcome, "sent");
  assert.deepEqual(await outcomeOf(NTFY, { abort: true }).then(({ outcome }) => outcome), "unnecessary");
});

Deno.test("an outlet is one address, with a time in bounds [push-outlet]", () => {
  const ntfy = "https://ntfy.example/t";
  assert.ok(SecondOutlet.safeParse({ ntfy }).success);
  for (
    const bad of [{}, { ntfy, webhook: ntfy }, { ntfy: "ftp://x" }, { ntfy, afterSeconds: 5 }, {
      ntfy,
      unless: "heard",
    }]
  ) assert.ok(!SecondOutlet.safeParse(bad).success, JSON.stringify(bad));
});

/** Connects the server to a relay; `act` may replace the global fetch. */
async function withRelay(
  act: (bench: { phone: PhoneSide; client: Connected["client"]; fetch: typeof fetch }) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "svc-mcp-" });
  const phone = await PhoneSide.start(directory);
  const { client, served } = await connectMcp({ settings: () => Promise.resolve(phone.settings) });
  const own = globalThis.fetch;
  try {
    await act({ phone, client, fetch: own });
  } finally {
    globalThis.fetch = own;
    await client.close();
    await served;
    await phone.relay.stop();
    await Deno.remove(directory, { recursive: true });
  }
}

const isWithdrawn = (phone: PhoneSide): Promise<unknown> =>
  until("the withdrawal", async () => (await phone.pushes("ask"))[0]?.receipt.state === "withdrawn");

Deno.test("a question that the relay stores after its call was cancelled is withdrawn [other-mcp]", () =>
  withRelay(async ({ phone, client, fetch }) => {
    const late = Promise.withResolvers<void>();
    let stored: Promise<Response> | undefined;
    // The relay has read the request when its sender disconnects.
    globalThis.fetch = (url, init) => {
      if (init?.method !== "POST" || stored !== undefined) return fetch(url, init);
      stored = late.promise.then(() => fetch(url, { ...init, signal: null }));
      const { signal } = init;
      return new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    };
    const cancel = new AbortController();
    const question = { name: "svc_prompt", arguments: { question: "Taken back?" } };
    const call = client.callTool(question, { signal: cancel.signal });
    await until("the request", () => stored !== undefined);
    cancel.abort();
    await assert.rejects(call);
    await client.callTool({ name: "svc_notify", arguments: { title: "The server has taken that" } });
    late.resolve();
    await (await stored)?.body?.cancel();
    await isWithdrawn(phone);
  }));

Deno.test("a question that its asker cannot wait for is withdrawn [other-mcp]", () =>
  withRelay(async ({ phone, client, fetch }) => {
    globalThis.fetch = async (url, init) =>
      String(url).includes("/pushes/") && init?.method === "GET" && !String(url).includes("?")
        ? new Response("blocked by a proxy", { status: 403 })
        : await fetch(url, init);
    const result = await client.callTool({ name: "svc_prompt", arguments: { question: "Heard?" } });
    assert.deepEqual([result.isError, /not a relay/.test(textOf(result))], [true, true], textOf(result));
    await isWithdrawn(phone);
  }));
