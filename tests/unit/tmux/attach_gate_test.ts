import assert from "node:assert/strict";
import { AttachGate, BEGIN_MS, CALM_LIMIT_MS, CALM_MS } from "../../../src/tmux/attach_gate.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

/** Lets what waits for promises go on. */
const flush = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

Deno.test("a client may attach a while after the last session began or ended [wr-many]", async () => {
  const clock = new FakeClock();
  const gate = new AttachGate(clock);
  assert.ok(gate.isCalm);
  gate.changed();
  clock.advance(CALM_MS - 1);
  gate.changed();
  clock.advance(CALM_MS - 1);
  assert.ok(!gate.isCalm);
  clock.advance(1);
  assert.ok(gate.isCalm);
  await gate.whenCalm();
});

Deno.test("no client may attach from a session's announcement until it has begun, or its wrapper takes too long [wr-many]", async () => {
  const clock = new FakeClock();
  const gate = new AttachGate(clock);
  const [quick, slow] = [new AbortController(), new AbortController()];
  await gate.begins(quick.signal);
  await gate.begins(slow.signal);
  clock.advance(BEGIN_MS / 2);
  quick.abort();
  await flush();
  assert.ok(!gate.isCalm);
  clock.advance(BEGIN_MS / 2);
  await flush();
  assert.ok(gate.isCalm);
  slow.abort();
  await flush();
  assert.ok(gate.isCalm);
});

Deno.test("a session that begins, and a client that detaches, wait until no client is half attached [wr-many]", async () => {
  const clock = new FakeClock();
  const gate = new AttachGate(clock);
  const attached = gate.attach();
  const order: string[] = [];
  const begins = gate.begins(new AbortController().signal).then(() => order.push("begins"));
  const detaches = gate.detach(() => Promise.resolve(void order.push("detaches")));
  clock.advance(100);
  await flush();
  assert.deepEqual(order, []);
  attached();
  attached();
  clock.advance(100);
  await Promise.all([begins, detaches]);
  assert.deepEqual(order.sort(), ["begins", "detaches"]);
});

Deno.test("who waits for a calm moment waits while a client detaches, and never for long [wr-many]", async () => {
  const clock = new FakeClock();
  const gate = new AttachGate(clock);
  const detached = Promise.withResolvers<void>();
  const detaching = gate.detach(() => detached.promise);
  await flush();
  let isOver = false;
  const waiting = gate.whenCalm().then(() => isOver = true);
  clock.advance(CALM_LIMIT_MS - 1);
  await flush();
  assert.ok(!isOver);
  for (let step = 0; step < 2; step++) {
    clock.advance(CALM_LIMIT_MS);
    await flush();
  }
  await waiting;
  detached.resolve();
  await detaching;
  assert.ok(gate.isCalm);
});
