/** Wrappers that start at the same instant. */
import assert from "node:assert/strict";
import { serveControl } from "../../src/home/control_socket.ts";
import { homePaths } from "../../src/home/paths.ts";
import { runtime } from "../../src/runtime/deno.ts";
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

Deno.test("if two wrappers find the same detached session, one gets it and the other gets the next number [wr-race]", async () => {
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

Deno.test("a wrapper announces its session to the listener before the session begins, and then disconnects [wr-many]", async () => {
  await using bench = await makeWrapperBench();
  const { sandbox } = bench;
  const place = { homeDirectory: sandbox.root, cwd: sandbox.root };
  const paths = await homePaths({ ...place, svcHome: sandbox.svcHome, uid: runtime.uid });
  await Deno.mkdir(paths.root, { recursive: true });
  const named = async (): Promise<string[]> => Object.keys(await bench.sessions().catch(() => ({})));
  const seen: Record<string, string[]> = {};
  const never = (): never => assert.fail("not asked");
  const server = await serveControl(runtime.sockets, paths.socket, {
    status: () => undefined,
    stop: never,
    gate: never,
    hook: never,
    dialog: never,
    forget: never,
    look: never,
    begin: async (begun) => {
      begun.addEventListener("abort", async () => seen.begun = await named());
      seen.announced = await named();
    },
  });
  try {
    const { code, stderr } = await bench.svc(["--detach", "cc"]);
    assert.equal(code, 0, stderr);
    await until("the end of the announcement", () => seen.begun !== undefined);
    assert.deepEqual(seen, { announced: [], begun: ["svc-proj"] });
  } finally {
    server.close();
  }
});
