/** Every route's refusals are problems of RFC 9457, whatever is wrong with the request. */
import assert from "node:assert/strict";
import { Problem, WIRE_ERRORS } from "../../../src/protocol/errors.ts";
import { REQUEST_MAX_BYTES } from "../../../src/protocol/limits.ts";
import type { Route } from "../../../src/relay/handler.ts";
import { ROUTES } from "../../../src/relay/routes.ts";
import { Fixture, type RequestOptions } from "./fixture.ts";

const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];

/** Returns requests that are each wrong in one way, for most routes. */
function wrongRequests(
  { method }: Route,
  keys: { none: string; all: string },
): Record<string, RequestOptions> {
  const { all: key, none } = keys;
  const bodies: Record<string, RequestOptions> = {
    "no JSON": { key, body: "{" },
    "an array": { key, body: [] },
    "fields of other types": { key, body: { type: 5, name: 5, state: 5, offer: 5, endpoint: 5 } },
    "another media type": { key, body: "x", headers: { "content-type": "text/plain" } },
    "a body that is too long": { key, body: JSON.stringify({ body: "x".repeat(2 * REQUEST_MAX_BYTES) }) },
  };
  return {
    "no key": {},
    "an unknown key": { key: `svc_${"A".repeat(43)}` },
    "a key without the scope": { key: none },
    "no body": { key },
    ...(method === "GET" || method === "DELETE" ? {} : bodies),
  };
}

async function checkProblem(answer: Response, context: string): Promise<void> {
  assert.equal(answer.headers.get("content-type"), "application/problem+json", context);
  const found = await answer.json();
  const problem = Problem.parse(found);
  assert.equal(problem.status, answer.status, context);
  assert.equal(WIRE_ERRORS[problem.code as keyof typeof WIRE_ERRORS].status, answer.status, context);
  assert.ok(problem.type !== "" && problem.title !== "", context);
  if (answer.status === 429) assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/, context);
  if (answer.status === 405) assert.notEqual(answer.headers.get("allow"), null, context);
  if (answer.status === 401) assert.doesNotMatch(JSON.stringify(found), /svc_[A-Za-z0-9_-]{10}/, context);
}

Deno.test("every refusal of every route is a problem with its status, type, title and code [other-problem]", async () => {
  await using relay = await Fixture.make();
  const keys = { none: await relay.key([]), all: await relay.key(["push:send", "push:read", "admin"]) };
  let refused = 0;
  const check = async (method: string, path: string, options: RequestOptions): Promise<void> => {
    relay.clock.advance(60_000);
    const answer = await relay.request(method, path, options);
    if (answer.status < 400) return void await answer.body?.cancel();
    refused++;
    await checkProblem(answer, `${method} ${path} ${JSON.stringify(options).slice(0, 80)}: ${answer.status}`);
  };
  for (const route of ROUTES) {
    const path = route.path.replace(/\{\w+\}/g, "nothing");
    for (const options of Object.values(wrongRequests(route, keys))) await check(route.method, path, options);
    for (const method of METHODS) await check(method, path, { key: keys.all });
  }
  for (const path of ["/", "/nothing", "/pushes/a/b", "/pushes?limit=x", "/ws"]) {
    await check("GET", path, { key: keys.all });
  }
  assert.ok(refused > 150, `${refused}`);
});
