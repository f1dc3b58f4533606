/** Floods against a relay in a separate process: the flooder is refused, and no other client is affected. */
import assert from "node:assert/strict";
import {
  BINARY_FRAME_MAX_BYTES,
  DEVICES_PER_KEY,
  PAGE_MAX_BYTES,
  UNFINISHED_PER_KEY_MAX_BYTES,
} from "../../src/protocol/limits.ts";
import { say } from "../../scripts/say.ts";
import { startAttack } from "../helpers/attack.ts";
import {
  type FloodedRelay,
  SCRIPT,
  startFloodedRelay,
  type Watched,
  watchedLine,
  watchRelay,
} from "../helpers/flooded_relay.ts";

/** An idle relay uses about 80 MB. */
const MEMORY_MAX_MB = 300;
const HEALTH_LEAST = 20;

function assertWell(name: string, watched: Watched): void {
  say(`${name}: ${watchedLine(watched)}`);
  assert.ok(watched.peakMb < MEMORY_MAX_MB, `${watched.peakMb} MB`);
}

function target(relay: FloodedRelay, apiKey = "") {
  return { target: { url: relay.url, wsUrl: relay.wsUrl, port: relay.port, apiKey } };
}

for (const requests of [31, 3]) {
  Deno.test(`1,000 connections that request the page's script ${requests} times and read nothing cost little memory [flood-unread-answers]`, async () => {
    await using relay = await startFloodedRelay();
    const options = { path: SCRIPT, connections: 1_000, requests };
    await using attack = startAttack("pipeline", { ...target(relay), options });
    const watched = await watchRelay(relay, { work: attack.result, least: HEALTH_LEAST });
    assertWell(`unread answers, ${requests} each`, watched);
    assert.ok((await relay.budgets()).length > 0, "no limit was counted");
  });
}

Deno.test("a key that posts without pause is refused with Retry-After, and another key is not [flood-stored]", async () => {
  await using relay = await startFloodedRelay();
  const key = await relay.key(["push:send"]);
  const options = { most: 1_500, atOnce: 50 };
  await using attack = startAttack("postAll", { ...target(relay, key), options });
  assertWell("posts", await watchRelay(relay, { work: attack.result, least: HEALTH_LEAST }));
  const { statuses, stored, last } = await attack.result as {
    statuses: Record<string, number>;
    stored: number;
    last: { code: string; retryAfter: number };
  };
  say(`posts: ${JSON.stringify(statuses)}, ${Math.round(stored / 1e6)} MB stored, then ${last.code}`);
  // A slow relay may be overloaded before the key exceeds its limit.
  assert.deepEqual(Object.keys(statuses).filter((status) => !["202", "429", "503"].includes(status)), []);
  assert.ok(["rate_limited", "overloaded"].includes(last.code) && last.retryAfter > 0);
  const other = await relay.key(["push:send"]);
  const sent = await fetch(`${relay.url}/pushes/send`, {
    method: "POST",
    headers: { "x-api-key": other, "content-type": "application/json" },
    body: JSON.stringify({ type: "note", body: "x" }),
  });
  await sent.body?.cancel();
  assert.equal(sent.status, 202);
});

Deno.test("a flood of inventories closes its sender's socket [flood-inventories]", async () => {
  await using relay = await startFloodedRelay();
  const key = await relay.key(["push:read"]);
  await using attack = startAttack("inventories", { ...target(relay, key), options: { most: 2_555 } });
  assertWell("inventories", await watchRelay(relay, { work: attack.result, least: HEALTH_LEAST }));
  const { closed, stored } = await attack.result as {
    closed: { code: number; reason: string };
    stored: number;
  };
  say(`inventories: ${stored} stored, then closed with ${closed.code} ${closed.reason}`);
  assert.equal(closed.code, 4429);
  assert.ok(stored < 100);
});

Deno.test("messages that are begun on 200 sockets of one key and never completed are not held in memory [flood-unfinished]", async () => {
  await using relay = await startFloodedRelay();
  const key = await relay.key(["push:read"]);
  const bytes = 1_000_000;
  const options = { sockets: 200, bytes };
  await using attack = startAttack("unfinished", { ...target(relay, key), options });
  assertWell("unfinished messages", await watchRelay(relay, { work: attack.result, least: HEALTH_LEAST }));
  const { closes } = await attack.result as { closes: Record<string, number> };
  say(`unfinished messages: ${JSON.stringify(closes)}`);
  assert.ok((closes[4429] ?? 0) > 0);
  assert.ok((closes.open ?? 0) * bytes <= UNFINISHED_PER_KEY_MAX_BYTES, `${closes.open} are open`);
});

Deno.test("the devices of one key are limited, and other keys can still add devices to the account [flood-devices]", async () => {
  await using relay = await startFloodedRelay();
  const key = await relay.key(["push:read"]);
  const options = { most: 1_000 };
  await using attack = startAttack("devices", { ...target(relay, key), options });
  const { welcomed, closed } = await attack.result as { welcomed: number; closed: { reason: string } };
  say(`devices: ${welcomed} of 1,000, then ${closed.reason}`);
  assert.ok(welcomed <= DEVICES_PER_KEY);
  assert.match(closed.reason, /the key has \d+ devices/);
});

Deno.test("twenty readers of full pages do not block the relay for others [flood-pages]", async () => {
  await using relay = await startFloodedRelay();
  const key = await relay.key(["push:send", "push:read"]);
  const fill = { most: 400, atOnce: 40 };
  await using filling = startAttack("postAll", { ...target(relay, key), options: fill });
  await filling.result;
  const options = { readers: 20, each: 10 };
  await using attack = startAttack("pages", { ...target(relay, key), options });
  assertWell("pages", await watchRelay(relay, { work: attack.result, least: HEALTH_LEAST }));
  const { statuses, most } = await attack.result as { statuses: Record<string, number>; most: number };
  say(`pages: ${JSON.stringify(statuses)}, ${Math.round(most / 1e3)} kB at most`);
  assert.ok(most <= PAGE_MAX_BYTES + 20_000 && most < BINARY_FRAME_MAX_BYTES * 2);
});
