/** What keys may do, against a real relay and listener: what each attacker tries, and the answer. */
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { createRelayApi } from "../../src/client/api.ts";
import { RelayError } from "../../src/client/relay_error.ts";
import type { EventData } from "../../src/protocol/frames.ts";
import { findKey } from "../../src/relay/api_keys.ts";
import { openRelayStore } from "../../src/store/open.ts";
import type { KeyRecord } from "../../src/store/store.ts";
import { Peer } from "../contract/relay_peer.ts";
import { runSvc, type Started, startSvc } from "../helpers/program.ts";
import { makeSandbox, type Sandbox } from "../helpers/sandbox.ts";
import { makeStack, type Stack } from "../helpers/stack.ts";
import { pairScriptedPhone } from "../helpers/scripted_phone.ts";
import { until } from "../helpers/until.ts";
import { sessionNamed } from "../unit/relay/fixture.ts";

/** Creates a key for a hook or a script. */
async function newKey(stack: Stack, ...args: string[]): Promise<{ id: string; key: string }> {
  const data = ["--data", `${stack.sandbox.svcHome}/server`, "--json"];
  const { code, stdout, stderr } = await stack.svc("keys", "create", "--name", "attacker", ...args, ...data);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Sends `hello` and waits for the answer; a welcomed socket stays open. */
async function hello(wsUrl: string, key: string, as: Partial<EventData<"hello">>): Promise<Peer> {
  const peer = new Peer(wsUrl, { key });
  await until("an open socket", () => peer.socket.readyState === 1);
  peer.send("hello", { role: "phone", name: "attacker", version: "1.0.0", capabilities: [], ...as });
  await until("an answer", () => peer.closed ?? peer.received("welcome")[0]);
  return peer;
}

const got = (attack: string, answer: string): void => say(`attack: ${attack} → ${answer}`);

Deno.test("a key that uses a listener's device id gets none of its messages, inventory or receipts [role-owner, role-speaks-for]", async () => {
  await using stack = await makeStack();
  const { wsUrl, deviceId, listener } = stack;
  const echo = await stack.echo();
  const phone = await pairScriptedPhone(await stack.pairLink());
  const attackers = [
    ["a key with push:read alone", (await newKey(stack, "--scope", "push:read")).key],
    ["another person's phone", phone.apiKey],
    ["a script's key", (await newKey(stack, "--scope", "push:read,push:send", "--role", "script")).key],
  ] as const;
  for (const [attack, key] of attackers) {
    const thief = await hello(wsUrl, key, { role: "listener", deviceId });
    const { code, reason } = await thief.end();
    got(`${attack} says hello as the listener`, `${code} ${reason}`);
    assert.ok(code === 4423 || code === 1008);
    thief.socket.terminate();
  }
  const record = await phone.send(echo.name, "for the real one");
  assert.equal(record.receipt.state, "submitted");
  assert.deepEqual(await echo.prompts(1), ["for the real one"]);
  assert.doesNotMatch(listener.output(), /disconnected/);
  // In the host's account, with its own device id, it can act only as that device.
  const [, key = ""] = attackers[0];
  const own = await hello(wsUrl, key, { role: "listener", deviceId: "dev_listener_00000000" });
  own.send("listener.sessions", { sequence: 1, sessions: [sessionNamed(echo.name)] });
  own.send("push.ack", { id: record.push.id, outcome: "refused", final: true });
  await own.first("listener.stored");
  const { devices } = await stack.api.sessions();
  const real = devices.find((device) => device.deviceId === deviceId);
  assert.equal(real?.online, true);
  assert.equal((await stack.api.getPush(record.push.id)).receipt.state, "submitted");
  await own.leave();
});

Deno.test("a phone's key cannot create keys, and keys created from it are revoked with it [role-phone-key, role-cascade]", async () => {
  await using stack = await makeStack();
  const phone = await pairScriptedPhone(await stack.pairLink());
  const refused = await phone.api.createPairing().catch((error) => error);
  assert.ok(refused instanceof RelayError);
  got("a phone's key asks for a pairing code", `${refused.status} ${refused.code}`);
  assert.deepEqual([refused.status, refused.code], [403, "wrong_role"]);
  const socket = await hello(stack.wsUrl, phone.apiKey, {});
  const revoked = await stack.svc("devices", "revoke", phone.deviceId);
  assert.equal(revoked.code, 0, revoked.stderr);
  assert.equal((await socket.end()).code, 4401);
  await assert.rejects(phone.api.sessions(), /unknown or revoked/);
});

Deno.test("a second host with the same name and a second home with the same key are refused with a hint at deviceName, which lets them join [role-device-name, role-identity]", async () => {
  await using here = await makeStack();
  const { relay, url, wsUrl } = here;
  const other = await newKey(here, "--scope", "push:read,push:send");
  for (
    const [attack, apiKey] of [
      ["a second host of the same name with a key of its own", other.key],
      ["a second home with a copy of the first one's key", here.apiKey],
    ] as const
  ) {
    await using there = await makeStack({ joins: { relay, url, wsUrl, apiKey }, listener: false });
    const listener = startSvc(there.sandbox, ["listener"]);
    const [line] = await listener.line(/disconnected: .*/);
    got(attack, line.replace(/^.*disconnected: /, ""));
    assert.match(line, /Another key or home has this device id.*set "deviceName" in its config\.json/);
    assert.match(line, /next try in 30000 ms/);
    assert.equal(listener.output().match(/disconnected/g)?.length, 1);
    listener.kill("SIGTERM");
    await listener.exited;
    const config = JSON.parse(await Deno.readTextFile(`${there.sandbox.svcHome}/config.json`));
    const named = JSON.stringify({ ...config, deviceName: `second of ${attack}` });
    await Deno.writeTextFile(`${there.sandbox.svcHome}/config.json`, named);
    await startSvc(there.sandbox, ["listener"]).line(/connected to/);
    await until("both hosts", async () => {
      const { devices } = await here.api.devices();
      return devices.filter(({ kind, online }) => kind === "listener" && online).length === 2;
    });
  }
  assert.doesNotMatch(here.listener.output(), /disconnected/);
});

Deno.test("a key that claimed an unused id locks the host out until the id is released [role-release]", async () => {
  await using stack = await makeStack({ listener: false });
  const { wsUrl, deviceId, sandbox } = stack;
  const squatter = await newKey(stack, "--scope", "push:read");
  const early = await hello(wsUrl, squatter.key, { role: "listener", deviceId });
  assert.equal(early.closed, undefined);
  const refused = startSvc(sandbox, ["listener"]);
  await refused.line(/svc devices release ID/);
  refused.kill("SIGTERM");
  await refused.exited;
  await early.leave();
  const script = await newKey(stack, "--scope", "push:read,push:send");
  const config = `${sandbox.svcHome}/config.json`;
  const before = await Deno.readTextFile(config);
  const withoutAdmin = JSON.stringify({ ...JSON.parse(before), apiKey: script.key });
  await Deno.writeTextFile(config, withoutAdmin);
  const byStore = await stack.svc("devices", "release", deviceId);
  await Deno.writeTextFile(config, before);
  assert.equal(byStore.code, 0, byStore.stderr);
  assert.match(byStore.stdout, /^Released dev_listener_/);
  await startSvc(sandbox, ["listener"]).line(/connected to/);
  const late = await hello(wsUrl, squatter.key, { role: "listener", deviceId });
  assert.match((await late.end()).reason, /^device_taken/);
  await Deno.writeTextFile(config, withoutAdmin);
  const again = await stack.svc("devices", "release", "dev_listener_99999999");
  assert.equal(again.code, 1);
  assert.match(again.stderr, /Cannot change the device "dev_listener_99999999".* See: svc devices$/m);
});

const UP = ["up", "--listen", "127.0.0.1:0"];

async function keyOf(sandbox: Sandbox): Promise<{ apiKey: string; record: KeyRecord | undefined }> {
  const { apiKey } = JSON.parse(await Deno.readTextFile(`${sandbox.svcHome}/config.json`));
  const store = await openRelayStore(`${sandbox.svcHome}/server`);
  const record = await findKey(store, apiKey);
  await store.close();
  return { apiKey, record };
}

async function up(sandbox: Sandbox): Promise<{ started: Started; url: string }> {
  const started = startSvc(sandbox, UP);
  const [, url = ""] = await started.line(/^On this machine: (http:\S+) /);
  await until("the listener", async () => {
    const { stdout } = await runSvc(sandbox, ["status", "--json"]);
    return JSON.parse(stdout).listener?.connected;
  });
  return { started, url };
}

async function stop({ started }: { started: Started }): Promise<void> {
  started.kill("SIGINT");
  assert.equal((await started.exited).code, 0, started.output());
}

Deno.test("svc up uses a listener's key without admin scope for its own device, and revokes devices through its store [role-up-key, cli-devices]", async () => {
  await using sandbox = await makeSandbox();
  const running = await up(sandbox);
  const { apiKey, record } = await keyOf(sandbox);
  assert.deepEqual([record?.role, record?.scopes], ["listener", ["push:send", "push:read"]]);
  assert.match(record?.deviceId ?? "", /^dev_listener_/);
  const api = createRelayApi({ baseUrl: running.url, apiKey });
  const refused = await api.revokeDevice(record?.deviceId ?? "").catch((error) => error);
  got("the key of svc up revokes a device", `${refused.status} ${refused.code}`);
  assert.equal(refused.code, "missing_scope");
  const paired = await runSvc(sandbox, ["pair", "--json"]);
  const phone = await pairScriptedPhone(JSON.parse(paired.stdout).url);
  const socket = await hello(`${running.url.replace(/^http/, "ws")}/ws`, phone.apiKey, {});
  const revoked = await runSvc(sandbox, ["devices", "revoke", phone.deviceId]);
  assert.equal(revoked.code, 0, revoked.stderr);
  assert.equal((await socket.end()).code, 4401);
  await stop(running);
  const second = await up(sandbox);
  assert.equal((await keyOf(sandbox)).apiKey, apiKey);
  await stop(second);
});

Deno.test("a home and store of the previous version keep working: the phone stays paired, the host gets its own key, and svc up reports what happened to the old one [role-upgrade]", async () => {
  await using sandbox = await makeSandbox();
  // What that version of svc up left behind: a key with every scope that is not bound to a device and owns no id yet.
  const data = ["--data", `${sandbox.svcHome}/server`];
  const made = await runSvc(sandbox, [
    ...["keys", "create", "--name", "host", "--scope", "push:send,push:read,admin", "--json"],
    ...data,
  ]);
  const old = JSON.parse(made.stdout);
  // Below the ports that other programs get from the system, and of no service.
  const wsUrl = "ws://127.0.0.1:1023/ws";
  const config = { apiKey: old.key, hookId: "hook_old", wsUrl };
  await Deno.writeTextFile(`${sandbox.svcHome}/config.json`, JSON.stringify(config));
  const relay = startSvc(sandbox, ["server", "--listen", "127.0.0.1:0", ...data]);
  const [, url = ""] = await relay.line(/listening on (http:\S+) /);
  const before = createRelayApi({ baseUrl: url, apiKey: old.key });
  const { code } = await before.createPairing();
  const phone = await before.claimPairing(code, { name: "iPhone" });
  relay.kill("SIGTERM");
  await relay.exited;

  const running = await up(sandbox);
  assert.match(
    running.started.output(),
    new RegExp(
      `The one that it used before \\(${old.id}, .*admin\\) still works.*svc keys revoke ${old.id} --data`,
    ),
  );
  const { apiKey, record } = await keyOf(sandbox);
  assert.notEqual(apiKey, old.key);
  assert.equal(record?.role, "listener");
  const api = (key: string) => createRelayApi({ baseUrl: running.url, apiKey: key });
  for (const key of [old.key, phone.apiKey, apiKey]) {
    assert.equal((await api(key).sessions()).devices.length, 1);
  }
  const gone = await runSvc(sandbox, ["keys", "revoke", old.id, ...data]);
  assert.equal(gone.stdout, `Revoked ${old.id}\n`);
  assert.equal((await api(phone.apiKey).sessions()).devices.length, 1);
  await stop(running);
});
