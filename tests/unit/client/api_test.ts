/** Calls to the relay: what is sent, and the error of each kind of failure. */

import assert from "node:assert/strict";
import { ANSWER_MAX_BYTES, createRelayApi } from "../../../src/client/api.ts";
import { RelayError } from "../../../src/client/relay_error.ts";
import { problem } from "../../../src/protocol/errors.ts";

const ID = "0b3a1c9e-1111-4222-8333-444455556666";

interface Seen {
  url: string;
  init: RequestInit;
}

function apiAnswering(answer: () => Response | Promise<Response>) {
  const seen: Seen[] = [];
  const api = createRelayApi({
    baseUrl: "https://relay.example/svc//",
    apiKey: "svc_key",
    fetch: (url, init) => {
      seen.push({ url, init });
      return Promise.resolve(answer());
    },
  });
  return { api, seen };
}

const headersOf = (seen: Seen | undefined): Headers => new Headers(seen?.init.headers);

async function failureOf(call: Promise<unknown>): Promise<RelayError> {
  const error = await call.then(() => undefined, (reason: unknown) => reason);
  assert.ok(error instanceof RelayError, `RelayError expected, got ${error}`);
  return error;
}

Deno.test("a push is posted as JSON with the key in X-API-Key [spec-phone-posts]", async () => {
  const { api, seen } = apiAnswering(() =>
    Response.json({ id: ID, state: "queued", expiresAt: 5 }, { status: 202 })
  );
  const push = { id: ID, type: "agent.command", agentSessionName: "svc-p", body: "hello" };
  assert.deepEqual(await api.sendPush(push), { id: ID, state: "queued", expiresAt: 5 });
  assert.equal(seen[0]?.url, "https://relay.example/svc/pushes/send");
  assert.equal(seen[0]?.init.method, "POST");
  assert.deepEqual(JSON.parse(String(seen[0]?.init.body)), push);
  assert.equal(headersOf(seen[0]).get("x-api-key"), "svc_key");
  assert.equal(headersOf(seen[0]).get("content-type"), "application/json");
});

Deno.test("a redirect sends neither key nor message to another address [spec-phone-posts]", async () => {
  const received: string[] = [];
  const quiet = { hostname: "127.0.0.1", port: 0, onListen: () => undefined };
  await using elsewhere = Deno.serve(quiet, async (request) => {
    received.push(`${request.headers.get("x-api-key")} ${await request.text()}`);
    return Response.json({ id: ID, state: "queued", expiresAt: 5 }, { status: 202 });
  });
  const to = `http://127.0.0.1:${elsewhere.addr.port}/`;
  await using relay = Deno.serve(quiet, () => new Response(null, { status: 307, headers: { location: to } }));
  const api = createRelayApi({ baseUrl: `http://127.0.0.1:${relay.addr.port}`, apiKey: "svc_key" });
  const push = { id: ID, type: "agent.command", agentSessionName: "svc-p", body: "hello" };
  for (const call of [api.sessions(), api.sendPush(push)]) {
    const { code, message, transient } = await failureOf(call);
    // The redirect may come from a network that requires a sign-in.
    assert.deepEqual([code, transient], ["unreachable", true]);
    assert.match(
      message,
      /answers with a redirect, which svc does not follow; use the address that it leads to/,
    );
  }
  assert.deepEqual(received, []);
  // Browsers report a redirect like this.
  const opaque = { type: "opaqueredirect", status: 0, headers: new Headers(), body: null } as Response;
  const page = createRelayApi({ baseUrl: "https://relay.example", fetch: () => Promise.resolve(opaque) });
  assert.equal((await failureOf(page.sessions())).transient, true);
});

Deno.test("names in a path and cursors in a query are escaped", async () => {
  const { api, seen } = apiAnswering(() => Response.json({ pushes: [] }));
  await api.listPushes({ after: "a&b=1", limit: 7 });
  assert.equal(seen[0]?.url, "https://relay.example/svc/pushes?after=a%26b%3D1&limit=7");
  await api.listPushes({ before: "end", open: "questions" });
  assert.equal(seen[1]?.url, "https://relay.example/svc/pushes?before=end&open=questions");
  await failureOf(api.getPush("../devices"));
  assert.equal(seen[2]?.url, "https://relay.example/svc/pushes/..%2Fdevices");
});

Deno.test("a refusal carries its code, status, invalid fields and advice", async () => {
  const body = problem("invalid_push", "The push cannot be taken", [
    { pointer: "/body", detail: "at least one character" },
  ]);
  const { api } = apiAnswering(() => Response.json(body, { status: 400 }));
  const error = await failureOf(api.sendPush({ type: "note" }));
  assert.equal(error.code, "invalid_push");
  assert.equal(error.status, 400);
  assert.deepEqual(error.problem, body);
  assert.match(error.message, /^Cannot send the push: The push cannot be taken: \/body: at least one/);
  assert.equal(error.transient, false);
});

Deno.test("a rate limit carries its Retry-After", async () => {
  const { api } = apiAnswering(() =>
    Response.json(problem("rate_limited"), { status: 429, headers: { "retry-after": "12" } })
  );
  const error = await failureOf(api.sessions());
  assert.equal(error.code, "rate_limited");
  assert.equal(error.retryAfterSeconds, 12);
  assert.match(error.message, /try again in 12 s/);
  assert.equal(error.transient, true);
});

Deno.test("an invalid key is reported with how to get a valid one", async () => {
  const { api } = apiAnswering(() => Response.json(problem("unauthenticated"), { status: 401 }));
  assert.match((await failureOf(api.devices())).message, /svc keys create/);
});

Deno.test("a key with characters that no header can hold is reported as invalid, not as an unreachable relay", async () => {
  for (const apiKey of ["\u201csvc_key\u201d", "svc_\u200bkey", "svc_\nkey"]) {
    const error = await failureOf(createRelayApi({ baseUrl: "http://127.0.0.1:1", apiKey }).sessions());
    assert.deepEqual([error.code, error.status, error.transient], ["unauthenticated", 401, false]);
    assert.match(error.message, /the API key has characters that no key has/);
    assert.ok(!error.message.includes(apiKey));
  }
});

Deno.test("no answer gives the code unreachable, with the address", async () => {
  const { api } = apiAnswering(() => {
    throw new TypeError("connection refused");
  });
  const error = await failureOf(api.health());
  assert.equal(error.code, "unreachable");
  assert.equal(error.status, 0);
  assert.match(error.message, /"https:\/\/relay\.example\/svc"/);
});

Deno.test("a proxy whose relay is down is not called a wrong address", async () => {
  for (
    const [status, said] of [[502, /a proxy; check the relay/], [
      404,
      /not a relay; check the address/,
    ]] as const
  ) {
    const { api } = apiAnswering(() => new Response("<html>", { status }));
    await assert.rejects(api.sessions(), said);
  }
});

Deno.test("an answer that is not from a relay is reported as such and not passed on", async () => {
  const page = apiAnswering(() => new Response("<html>captive portal</html>"));
  assert.equal((await failureOf(page.api.sessions())).code, "bad_answer");
  const proxy = apiAnswering(() => new Response("Bad Gateway", { status: 502 }));
  const error = await failureOf(proxy.api.sessions());
  assert.equal(error.status, 502);
  assert.equal(error.transient, true);
});

Deno.test("aborting rejects with the caller's reason", async () => {
  const reason = new Error("the view was left");
  const abort = new AbortController();
  const api = createRelayApi({
    baseUrl: "http://relay.example",
    fetch: (_url, init) =>
      new Promise((_resolve, reject) => {
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      }),
  });
  const call = api.health({ signal: abort.signal });
  abort.abort(reason);
  await assert.rejects(call, reason);
});

Deno.test("a pairing is claimed without a key, and a device is revoked with an empty answer", async () => {
  const seen: Seen[] = [];
  const api = createRelayApi({
    baseUrl: "http://relay.example",
    fetch: (url, init) => {
      seen.push({ url, init });
      return Promise.resolve(Response.json({ deviceId: "dev_phone_1", apiKey: "svc_new" }));
    },
  });
  assert.equal((await api.claimPairing("c/1", { name: "Phone" })).apiKey, "svc_new");
  assert.equal(seen[0]?.url, "http://relay.example/pairings/c%2F1/claim");
  assert.equal(headersOf(seen[0]).has("x-api-key"), false);

  const revoking = apiAnswering(() => new Response(null, { status: 204 }));
  assert.deepEqual(await revoking.api.revokeDevice("dev_phone_1"), {});
  assert.equal(revoking.seen[0]?.init.method, "DELETE");
});

Deno.test("an endless answer is abandoned, and its connection closed [hostile-relay]", async () => {
  const part = new Uint8Array(ANSWER_MAX_BYTES / 8).fill(0x20);
  let sent = 0;
  let isCancelled = false;
  const { api } = apiAnswering(() =>
    new Response(
      new ReadableStream({
        pull(controller) {
          controller.enqueue(part);
          sent += part.length;
        },
        cancel: () => void (isCancelled = true),
      }),
    )
  );
  const error = await failureOf(api.sessions());
  assert.equal(error.code, "bad_answer");
  assert.ok(isCancelled && sent <= ANSWER_MAX_BYTES + 3 * part.length, `${sent} bytes`);
});
