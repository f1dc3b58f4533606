/** A relay moves from SQLite to NATS and back under load: every message arrives once and in order. */
import assert from "node:assert/strict";
import { createRelayApi } from "../../src/client/api.ts";
import { startNats } from "../helpers/nats_server.ts";
import { newKey } from "../helpers/new_key.ts";
import { listen, Load, Session } from "../helpers/node_stage.ts";
import { runSvc, type Started, startSvc } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { RELAY_READY } from "../helpers/stack.ts";
import { until } from "../helpers/until.ts";

/** How many messages must be accepted between two steps. */
const PROGRESS = 20;

async function migrate(sandbox: Sandbox, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runSvc(sandbox, ["server", "migrate", ...args]);
  assert.equal(code, 0, stderr);
  return stdout;
}

async function start(sandbox: Sandbox, ...args: string[]): Promise<{ relay: Started; host: string }> {
  const relay = startSvc(sandbox, ["server", ...args]);
  const [, , host = ""] = await relay.line(RELAY_READY);
  return { relay, host };
}

async function stop(relay: Started): Promise<void> {
  relay.kill("SIGTERM");
  await relay.exited;
}

Deno.test("migrate: a relay moves to NATS and back under load, and no message is lost or duplicated [run-migrate]", async () => {
  await using sandbox = await makeSandbox();
  const nats = await startNats(`${sandbox.root}/nats`);
  const [first, last] = [`${sandbox.root}/first`, `${sandbox.root}/last`];
  const onSqlite = await start(sandbox, "--listen", "127.0.0.1:0", "--data", first);
  const { host } = onSqlite;
  const apiKey = await newKey(first, ["push:read", "push:send"]);
  const session = new Session("svc-m");
  const link = listen(session, { host, apiKey, deviceId: "dev_listener_0" });
  await until("the listener is connected", () => link.connected);
  const load = new Load({ host, keys: [apiKey], sessions: [session] });
  const progress = async (): Promise<void> => {
    const [from = 0] = load.accepted;
    await until("messages are accepted", () => (load.accepted[0] ?? 0) >= from + PROGRESS);
  };
  try {
    await progress();
    const toNats = ["--data", first, "--to", nats.url];
    assert.match(await migrate(sandbox, ...toNats), /still running/);
    await progress();
    assert.match(await migrate(sandbox, ...toNats), /of which \d+ are new/);
    await stop(onSqlite.relay);
    assert.match(await migrate(sandbox, ...toNats), /nothing is missing/);
    const onNats = await start(sandbox, "--listen", host, "--data", first, "--nats", nats.url);
    await progress();
    const back = ["--data", first, "--to", `sqlite:${last}`];
    assert.match(await migrate(sandbox, ...back), /still running/);
    await progress();
    await stop(onNats.relay);
    assert.match(await migrate(sandbox, ...back), /nothing is missing/);
    const again = await runSvc(sandbox, ["server", "migrate", "--data", last, "--to", nats.url]);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /a relay has stored its own data there/);
    await start(sandbox, "--listen", host, "--data", last);
    await progress();
    await load.settle();
    const [accepted = 0] = load.accepted;
    await until("every message has arrived", () => session.arrived.length >= accepted);
    assert.deepEqual(session.arrived, Array.from({ length: accepted }, (_, n) => n));
    await checkHistory({ host, apiKey, accepted });
  } finally {
    await load.settle();
    link.close();
    await nats.stop("SIGKILL");
  }
});

Deno.test("migrate: the command that it prints starts the relay where the copy is [run-migrate]", async () => {
  await using sandbox = await makeSandbox();
  const nats = await startNats(`${sandbox.root}/nats`);
  const data = `${sandbox.root}/the relay`;
  const key = await newKey(data, ["push:read"]);
  try {
    const printed = await migrate(sandbox, "--data", data, "--to", nats.url, "--nats-prefix", "team");
    const [, command = ""] = /Start it there: svc (.*)\n/.exec(printed) ?? [];
    assert.equal(command, `server --nats ${nats.url} --data '${data}' --nats-prefix team`);
    const args = ["--nats", nats.url, "--data", data, "--nats-prefix", "team"];
    const { relay, host } = await start(sandbox, "--listen", "127.0.0.1:0", ...args);
    const api = createRelayApi({ baseUrl: `http://${host}`, apiKey: key });
    assert.deepEqual(await api.sessions(), { devices: [] });
    await stop(relay);
  } finally {
    await nats.stop("SIGKILL");
  }
});

/** Asserts that the relay lists every message once, in order. */
async function checkHistory(
  { host, apiKey, accepted }: { host: string; apiKey: string; accepted: number },
): Promise<void> {
  const api = createRelayApi({ baseUrl: `http://${host}`, apiKey });
  const bodies: string[] = [];
  let cursor: string | undefined;
  do {
    const { pushes, next } = await api.listPushes(cursor === undefined ? {} : { after: cursor });
    bodies.push(...pushes.map(({ push }) => push.body ?? ""));
    cursor = next;
  } while (cursor !== undefined);
  assert.deepEqual(bodies, Array.from({ length: accepted }, (_, n) => `${n}`));
}
