/** Hooks by their `hookId`: counted, muted, revoked, and reactivated. */
import assert from "node:assert/strict";
import { Hook, HooksAnswer } from "../../../src/protocol/http.ts";
import { PushRecord } from "../../../src/protocol/push.ts";
import { type FakeClient, Fixture, uuid } from "./fixture.ts";

const HOOK = "hook_0a1b2c3d";

interface Bench {
  relay: Fixture;
  phone: FakeClient;
  /** Sends a push like a stop hook; resolves with the answer's status and body. */
  stop(n: number, hookId?: unknown): Promise<{ status: number; json: Record<string, unknown> }>;
  change(state: string, id?: string): Promise<Response>;
  list(): Promise<[string, string, number][]>;
}

async function withBench(act: (bench: Bench) => Promise<void>): Promise<void> {
  await using relay = await Fixture.make();
  const key = await relay.key();
  const admin = await relay.key(["admin"]);
  const phone = await relay.connect(key, { role: "phone", deviceId: "dev_phone_1" });
  await act({
    relay,
    phone,
    async stop(n, hookId = HOOK) {
      const body = { id: uuid(n), type: "agent.stop", title: "done", data: { hookId } };
      const response = await relay.request("POST", "/pushes/send", { key, body });
      return { status: response.status, json: await response.json() };
    },
    change: (state, id = HOOK) => relay.request("PUT", `/hooks/${id}`, { key: admin, body: { state } }),
    async list() {
      const answer = await (await relay.request("GET", "/hooks", { key })).json();
      return HooksAnswer.parse(answer).hooks.map(({ id, state, pushes }) => [id, state, pushes]);
    },
  });
}

const told = (phone: FakeClient): string[] => phone.received("push.new").map(({ data }) => data.id);

Deno.test("pushes of hooks are counted by their id, and a repeated push counts once [rm-hook-id]", () =>
  withBench(async ({ stop, list, relay }) => {
    await stop(1);
    await stop(1);
    relay.clock.advance(1_000);
    await stop(2);
    await stop(3, "hook_other");
    for (const [n, odd] of [[4, "no hook"], [5, 7], [6, `hook_${"x".repeat(65)}`]] as const) {
      await stop(n, odd);
    }
    assert.deepEqual(await list(), [[HOOK, "active", 2], ["hook_other", "active", 1]]);
    const other = await relay.request("GET", "/hooks", { key: await relay.key(undefined, { account: "b" }) });
    assert.deepEqual(await other.json(), { hooks: [] });
  }));

Deno.test("a muted hook's pushes are stored without notification until the hook is active again [rm-hook-id]", () =>
  withBench(async ({ stop, change, list, phone, relay }) => {
    await stop(1);
    const changed = await change("muted");
    assert.deepEqual([changed.status, Hook.parse(await changed.json()).state], [200, "muted"]);
    const muted = await stop(2);
    assert.deepEqual([muted.status, muted.json["state"]], [202, "ignored"]);
    assert.deepEqual(await stop(2), muted, "the same answer");
    await stop(3, "hook_other");
    assert.deepEqual(told(phone), [uuid(1), uuid(3)]);
    const kept = await relay.request("GET", `/pushes/${uuid(2)}`, { key: await relay.key() });
    const { receipt } = PushRecord.parse(await kept.json());
    assert.deepEqual([receipt.state, receipt.reason, receipt.final], ["ignored", "hook_muted", true]);
    await change("active");
    await stop(4);
    assert.deepEqual(told(phone), [uuid(1), uuid(3), uuid(4)]);
    assert.deepEqual(await list(), [[HOOK, "active", 3], ["hook_other", "active", 1]]);
  }));

Deno.test("a revoked hook's pushes are refused and not stored [rm-hook-id]", () =>
  withBench(async ({ stop, change, phone, relay }) => {
    await stop(1);
    await change("revoked");
    const refused = await stop(2);
    assert.deepEqual([refused.status, refused.json["code"]], [403, "hook_revoked"]);
    assert.deepEqual(told(phone), [uuid(1)]);
    const gone = await relay.request("GET", `/pushes/${uuid(2)}`, { key: await relay.key() });
    assert.equal(gone.status, 404);
    assert.equal((await stop(3, "hook_other")).status, 202);
  }));

Deno.test("only an admin's key can change a hook, which must be known, and only to a known state [rm-hook-id]", () =>
  withBench(async ({ stop, change, relay }) => {
    await stop(1);
    const reader = await relay.key();
    const body = { state: "muted" };
    assert.equal((await relay.request("PUT", `/hooks/${HOOK}`, { key: reader, body })).status, 403);
    assert.equal((await (await change("muted", "hook_none")).json()).code, "unknown_hook");
    assert.equal((await change("loud")).status, 400);
    const stranger = await relay.key(["admin"], { account: "b" });
    assert.equal((await relay.request("PUT", `/hooks/${HOOK}`, { key: stranger, body })).status, 404);
  }));
