/** Wrappers that start at the same instant. */
import assert from "node:assert/strict";
import { until } from "../helpers/until.ts";
import { makeWrapperBench } from "../helpers/wrapper_bench.ts";

Deno.test("terminals opened at the same instant each get their own session [wr-race]", async () => {
  await using bench = await makeWrapperBench();
  const count = 10;
  await Promise.all(Array.from({ length: count }, () => bench.terminal(["cc"])));
  await until("a client of every session", async () => {
    const clients = Object.values(await bench.sessions());
    return clients.length === count && clients.every((attached) => attached === 1);
  });
  const names = ["svc-proj", ...Array.from({ length: count - 1 }, (_, index) => `svc-proj-${index + 2}`)];
  assert.deepEqual(Object.keys(await bench.sessions()).sort(), names.sort());
});

Deno.test("of two wrappers that find the same detached session, one gets it and the other the next number [wr-race]", async () => {
  await using bench = await makeWrapperBench();
  await bench.svc(["--detach", "cc"]);
  await Promise.all([bench.terminal(["cc"]), bench.terminal(["cc"])]);
  await until("a client of both sessions", async () => {
    const sessions = await bench.sessions();
    return sessions["svc-proj"] === 1 && sessions["svc-proj-2"] === 1;
  });
});

Deno.test("ten started at once without a terminal all run under the names that they printed [wr-race]", async () => {
  await using bench = await makeWrapperBench();
  const runs = await Promise.all(Array.from({ length: 10 }, () => bench.svc(["--detach", "cc"])));
  assert.deepEqual(runs.filter(({ code }) => code !== 0), []);
  const printed = new Set(runs.map(({ stdout }) => stdout.trim()));
  assert.deepEqual([...printed].sort(), Object.keys(await bench.sessions()).sort());
});
