/** The HTTP interface: keys, scopes, limits, and every error as a problem with its code. */
import assert from "node:assert/strict";
import { Problem, WIRE_ERRORS, type WireErrorCode } from "../../../src/protocol/errors.ts";
import { ROUTES } from "../../../src/relay/routes.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";
import { command, Fixture, type RequestOptions, uuid } from "./fixture.ts";

/** Asserts that the answer is this problem, in the common form. */
async function assertProblem(answer: Response, code: WireErrorCode): Promise<Problem> {
  const problem = Problem.parse(await answer.json());
  assert.equal(problem.code, code);
  assert.equal(answer.status, WIRE_ERRORS[code].status);
  assert.equal(problem.status, answer.status);
  assert.equal(answer.headers.get("content-type"), "application/problem+json");
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  return problem;
}

const pathOf = (path: string): string => path.replace(/\{\w+\}/g, uuid(1));

Deno.test("every route except the open ones rejects callers without a key [http-open-paths, http-401, sec-stranger, auth-http]", async () => {
  await using relay = await Fixture.make();
  const wrong = `svc_${"A".repeat(43)}`;
  const open: string[] = [];
  for (const route of ROUTES) {
    if (!("scopes" in route)) open.push(`${route.method} ${route.path}`);
    else {
      for (const key of [undefined, wrong, "", "nonsense", "svc_short"]) {
        await assertProblem(
          await relay.request(route.method, pathOf(route.path), { key }),
          "unauthenticated",
        );
      }
    }
  }
  assert.deepEqual(open, [
    "POST /pairings/{code}/claim",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "GET /openapi.json",
  ]);
});

Deno.test("no answer is stored by a cache or taken for another type, whatever its form [http-no-leak]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["admin"]);
  for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/devices", "/nowhere"]) {
    const { headers } = await relay.request("GET", path, { key });
    const found = [headers.get("cache-control"), headers.get("x-content-type-options")];
    assert.deepEqual(found, ["no-store", "nosniff"], path);
  }
});

Deno.test("a key without the scope is 403 on every route [http-403, sec-leaked-key]", async () => {
  await using relay = await Fixture.make();
  for (const route of ROUTES) {
    if (!("scopes" in route)) continue;
    const others = (["push:send", "push:read", "admin"] as const).filter((scope) =>
      !route.scopes.includes(scope)
    );
    const key = await relay.key(others);
    await assertProblem(await relay.request(route.method, pathOf(route.path), { key }), "missing_scope");
  }
});

Deno.test("a revoked key stops working at once [http-revoke]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  assert.equal((await relay.request("GET", "/devices", { key })).status, 200);
  const [record] = await relay.services.store.listKeys();
  await relay.services.store.revokeKey(record?.id ?? "", relay.clock.now());
  await assertProblem(await relay.request("GET", "/devices", { key }), "unauthenticated");
});

Deno.test("a key in the URL is not accepted [ws-no-key-in-url]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  for (const name of ["key", "apiKey", "x-api-key", "token"]) {
    await assertProblem(await relay.request("GET", `/devices?${name}=${key}`), "unauthenticated");
  }
});

Deno.test("an unknown path is 404, and another method is 405 with the allowed ones [http-problem]", async () => {
  await using relay = await Fixture.make();
  await assertProblem(await relay.request("GET", "/nothing"), "not_found");
  await assertProblem(await relay.request("POST", "/nothing"), "not_found");
  const answer = await relay.request("PUT", "/pushes/send");
  assert.equal(answer.headers.get("allow"), "POST");
  await assertProblem(answer, "method_not_allowed");
  assert.equal((await relay.request("PATCH", "/devices/dev_x/web-push")).headers.get("allow"), "PUT, DELETE");
  const read = await relay.request("GET", "/pushes/send", { key: await relay.key() });
  assert.equal(read.headers.get("allow"), "POST", "it is no push with the id send");
  await assertProblem(read, "method_not_allowed");
  assert.equal((await relay.request("PATCH", "/pushes")).headers.get("allow"), "GET, HEAD");
  await assertProblem(await relay.request("GET", "/ws"), "upgrade_required");
});

Deno.test("a body of another media type is 415 [http-415]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"]) {
    const answer = await relay.request("POST", "/pushes/send", {
      key,
      body: "{}",
      headers: { "content-type": type },
    });
    await assertProblem(answer, "unsupported_media_type");
  }
  const headers = { "content-type": "Application/JSON; charset=utf-8" };
  assert.equal((await relay.request("POST", "/pushes/send", { key, body: "{}", headers })).status, 400);
});

Deno.test("an invalid push is 400 with a pointer to every invalid field and none of their values [http-400, http-pointers, http-no-leak]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const body = {
    type: "agent.command",
    agentSessionName: "a b",
    body: "secret\u001b",
    ttlSeconds: 1,
    id: "x",
  };
  const answer = await relay.request("POST", "/pushes/send", { key, body });
  const text = await answer.clone().text();
  const { errors } = await assertProblem(answer, "invalid_push");
  const pointers = errors?.map(({ pointer }) => pointer).sort();
  assert.deepEqual(pointers, ["/agentSessionName", "/body", "/id", "/ttlSeconds"]);
  assert.ok(!text.includes("secret"));
  for (const junk of ["{", "", "[]", "null", "[".repeat(10_000)]) {
    await assertProblem(await relay.request("POST", "/pushes/send", { key, body: junk }), "invalid_push");
  }
  const latin1 = Uint8Array.from('{"type":"note","body":"\u00e9"}', (char) => char.charCodeAt(0));
  const headers = { "content-type": "application/json", "x-api-key": key };
  const request = new Request("http://relay/pushes/send", { method: "POST", headers, body: latin1 });
  await assertProblem(await relay.app(request, "192.0.2.1"), "invalid_push");
});

Deno.test("too many requests of one key are 429 with Retry-After, and other keys are unaffected [http-429]", async () => {
  await using relay = await Fixture.make();
  const [key, other] = [await relay.key(), await relay.key()];
  for (let n = 0; n < 200; n++) assert.equal((await relay.request("GET", "/devices", { key })).status, 200);
  const answer = await relay.request("GET", "/devices", { key });
  assert.equal(answer.headers.get("retry-after"), "1");
  await assertProblem(answer, "rate_limited");
  assert.equal((await relay.request("GET", "/devices", { key: other })).status, 200);
  relay.clock.advance(1_000);
  assert.equal((await relay.request("GET", "/devices", { key })).status, 200);
});

Deno.test("a failing store is 503 and an internal error 500, and neither reveals internals [http-503, http-no-leak]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const { store } = relay.services;
  const insertPush = store.insertPush;
  const sendWith = async (error: Error): Promise<Response> => {
    store.insertPush = () => Promise.reject(error);
    return await relay.request("POST", "/pushes/send", { key, body: { type: "note", body: "x" } });
  };
  const unavailable = await assertProblem(
    await sendWith(new StoreUnavailable("/data/relay.db is full")),
    "store_unavailable",
  );
  const internal = await assertProblem(await sendWith(new TypeError("deep inside")), "internal");
  assert.doesNotMatch(JSON.stringify([unavailable, internal]), /relay\.db|deep inside|at /);
  assert.match(relay.logged.join("\n"), /deep inside/);
  store.insertPush = insertPush;
});

Deno.test("health needs no key, and readiness reports whether the store can be used [http-health]", async () => {
  await using relay = await Fixture.make();
  assert.equal((await (await relay.request("GET", "/healthz")).json()).status, "ok");
  assert.equal((await relay.request("GET", "/readyz")).status, 200);
  const ready = relay.services.store.ready;
  relay.services.store.ready = () => Promise.reject(new StoreUnavailable("locked"));
  const answer = await relay.request("GET", "/readyz");
  assert.deepEqual([answer.status, (await answer.json()).status], [503, "unavailable"]);
  assert.equal((await relay.request("GET", "/healthz")).status, 200);
  relay.services.store.ready = ready;
});

Deno.test("metrics are for this machine or an admin, never for callers behind a local proxy [http-metrics]", async () => {
  await using relay = await Fixture.make();
  const scrape = ({ headers, ...options }: RequestOptions) =>
    relay.request("GET", "/metrics", { headers: { host: "127.0.0.1:7420", ...headers }, ...options });
  await assertProblem(await scrape({}), "unauthenticated");
  await assertProblem(await scrape({ key: await relay.key(["push:read"]) }), "missing_scope");
  await assertProblem(
    await scrape({ address: "127.0.0.1", headers: { "x-forwarded-for": "1.2.3.4" } }),
    "unauthenticated",
  );
  const admin = await scrape({ key: await relay.key(["admin"]) });
  for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
    for (const host of ["127.0.0.1:7420", "[::1]:7420", "localhost:7420", "LOCALHOST"]) {
      assert.equal((await scrape({ address, headers: { host } })).status, 200, host);
    }
  }
  assert.match(await admin.text(), /^svc_http_requests_total\{status="401"\} 2$/m);
});

Deno.test("metrics check the Host header, so a page that rebinds its name to this machine reads none [flood-metrics-host]", async () => {
  await using relay = await Fixture.make();
  relay.services.publicUrl = "https://relay.example:8443";
  const address = "127.0.0.1";
  const statusOf = async (host: string): Promise<number> =>
    (await relay.request("GET", "/metrics", { address, headers: { host } })).status;
  for (const host of ["evil.example", "evil.example:7420", "127.0.0.1.evil.example", "127.evil", "", "a b"]) {
    assert.equal(await statusOf(host), 401, host);
  }
  assert.equal(await statusOf("relay.example"), 401, "a proxy that adds no header passes on this name");
  relay.services.isTls = true;
  assert.equal(await statusOf("relay.example"), 200);
  const headers = { host: "evil.example" };
  const key = await relay.key(["admin"]);
  assert.equal((await relay.request("GET", "/metrics", { address, headers, key })).status, 200);
});

Deno.test("logs contain no key and no body [sec-logs-clean]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const { store } = relay.services;
  store.insertPush = () => Promise.reject(new Error("no"));
  await relay.request("POST", "/pushes/send", {
    key,
    body: command({ targetDeviceId: "dev_x", body: "very private" }),
  });
  await relay.request("POST", "/pushes/send", { key, body: { type: "note", body: "very private" } });
  assert.ok(relay.logged.length > 0);
  assert.doesNotMatch(relay.logged.join("\n"), new RegExp(`${key}|private`));
});
