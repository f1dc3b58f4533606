/** A phone's waiting messages when it is revoked, the relay lies about its time, or a hand-over interrupts them. */
import assert from "node:assert/strict";
import { exportPublicKey, generateKeyPair } from "../../../src/crypto/keys.ts";
import { importSecret, newSecret } from "../../../src/crypto/paired_secret.ts";
import { sealMessage } from "../../../src/crypto/stored_message.ts";
import { inject } from "../../../src/listener/inject/inject.ts";
import { unseal, type UnsealHost } from "../../../src/listener/sealing.ts";
import type { SessionEntry } from "../../../src/protocol/session.ts";
import { FakePane } from "../../helpers/fake_pane.ts";
import { until } from "../../helpers/until.ts";
import { type Bench, makeBench, outcomes, push } from "./push_bench.ts";

const LISTENER = "dev_listener_01234567";
const DAY_MS = 86_400_000;
const later = { kind: "idle" } as const;
const IDLE = [{ name: "svc-a", state: "idle", addressable: true } as SessionEntry];

interface Scene extends Bench {
  now: number;
  /** The texts of the pushes that ended. */
  ended: (string | undefined)[];
}

/**
 * Makes a message, sealed by its phone for a day, that waits for an idle agent; the relay says that it may wait for a
 * year.
 */
async function waitingMessage(): Promise<Scene> {
  const [keyPair, secret] = [await generateKeyPair(), await importSecret(newSecret())];
  const clock = { now: 1_800_000_000_000, ended: [] as (string | undefined)[] };
  const host: UnsealHost = {
    deviceId: LISTENER,
    identity: () => Promise.resolve(keyPair),
    secretOf: () => Promise.resolve(secret),
    ownSecret: () => Promise.resolve(undefined),
    claimQuestion: () => Promise.resolve(true),
    now: () => clock.now,
    log: () => {},
  };
  const { id, type, from } = push;
  const boundTo = { id, type, from, targetDeviceId: LISTENER, agentSessionName: "svc-a", sendAnyway: false };
  const content = { body: "hello", notAfter: clock.now + DAY_MS, counter: 1 };
  const sealed = await sealMessage(content, {
    boundTo: { ...boundTo, later },
    publicKey: await exportPublicKey(keyPair.publicKey),
    secret,
  });
  const bench = makeBench(
    ({ expiresAt }) => Promise.resolve({ state: clock.now < expiresAt ? "submitted" : "expired" }),
    {
      unseal: (one) => unseal(one, host),
      ended: ({ body }) => Promise.resolve(void clock.ended.push(body)),
      floor: () => Promise.resolve("psk"),
      now: () => clock.now,
      toLocalTime: (ms) => ms,
    },
  );
  const { body: _sealed, ...rest } = push;
  await bench.intake.receive({ ...rest, sealed, data: { later }, expiresAt: clock.now + 365 * DAY_MS });
  assert.deepEqual(outcomes(bench.acks), ["held until_idle"]);
  return Object.assign(clock, bench);
}

Deno.test("a revoked phone's waiting messages are not typed [sec-revoke-waiting]", async () => {
  const scene = await waitingMessage();
  await scene.intake.revoke("dev_phone_2");
  assert.equal(scene.acks.length, 1, "another phone's message waits on");
  await scene.intake.revoke(push.from);
  assert.deepEqual(outcomes(scene.acks).slice(1), ["refused unsealable final"]);
  assert.deepEqual(scene.ended, ["hello"], "the audit log has the length of the sealed text");
  scene.intake.observe(IDLE);
  await scene.queues.idle();
  assert.deepEqual(scene.injected, []);
});

Deno.test("a revoked phone's messages in a session's queue are not typed, and one that is being typed ends normally [sec-revoke-waiting]", async () => {
  const typing = Promise.withResolvers<void>();
  const bench = makeBench(async ({ turn }) => {
    turn.step = "typing";
    await typing.promise;
    return { state: "submitted" };
  });
  await bench.intake.receive(push);
  await until("the first to be typed", () => bench.injected.length === 1);
  await bench.intake.receive({ ...push, id: "00000000-0000-4000-8000-000000000002" });
  await bench.intake.revoke(push.from);
  typing.resolve();
  await bench.queues.idle();
  assert.equal(bench.injected.length, 1);
  assert.deepEqual(outcomes(bench.acks), [
    "delivered",
    "delivered",
    "refused unsealable final",
    "submitted final",
  ]);
});

Deno.test("a revoked phone's text that a dialog keeps in the composer gets no Enter once the dialog is answered [sec-revoke-waiting]", async () => {
  const pane = new FakePane();
  const bench = makeBench(
    (command) =>
      inject({ ...command, session: "svc-p", expiresAt: pane.clock.now() + DAY_MS }, pane.injection()),
  );
  pane.onText = () => pane.draw(undefined, { focus: "dialog" });
  pane.onPause = () => {
    if (!pane.events.includes("reported held dialog_open") || pane.reading.focus !== "dialog") return;
    void bench.intake.revoke(push.from);
    pane.draw("hello");
  };
  await bench.intake.receive(push);
  await bench.queues.idle();
  assert.deepEqual(outcomes(bench.acks).slice(-1), ["refused unsealable final"]);
  assert.deepEqual(pane.events.filter((event) => event.startsWith("key")), ["key C-u"]);
});

Deno.test("no later listener submits a revoked phone's text in a composer [sec-revoke-waiting]", async () => {
  const typing = Promise.withResolvers<void>();
  const bench = makeBench(async ({ turn }) => {
    turn.step = "held";
    await typing.promise;
    return turn.takeBack ?? { state: "submitted" };
  });
  bench.steps.set(push.id, { id: push.id, at: 0, step: "left" });
  await bench.intake.receive(push);
  await until("the typing", () => bench.injected.length === 1);
  await bench.intake.revoke(push.from);
  assert.equal(bench.steps.get(push.id)?.step, "typed");
  typing.resolve();
  await bench.queues.idle();
  assert.deepEqual(outcomes(bench.acks).slice(-1), ["refused unsealable final"]);
});

Deno.test("a waiting sealed message expires at the time that its phone set, whatever the relay says [sec-not-after]", async () => {
  const scene = await waitingMessage();
  scene.now += 2 * DAY_MS;
  scene.intake.observe(IDLE);
  await scene.queues.idle();
  await until("its end", () => scene.acks.length === 2);
  assert.deepEqual(outcomes(scene.acks).slice(1), ["expired final"]);
});

Deno.test("a message that was handed over while it was typed, and comes back, is not typed again [inj-never-retype]", async () => {
  const first = Promise.withResolvers<void>();
  const bench = makeBench(async () => {
    await first.promise;
    return { state: "submitted" };
  });
  await bench.intake.receive(push);
  await until("the first try", () => bench.injected.length === 1);
  bench.intake.drop();
  await bench.intake.receive(push);
  first.resolve();
  await bench.queues.idle();
  assert.equal(bench.injected.length, 1);
  assert.ok(outcomes(bench.acks).every((one) => !one.endsWith("final") || one === "submitted final"));
});
