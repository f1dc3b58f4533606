/** When control clients may attach to tmux. */
import assert from "node:assert/strict";
import { AttachGate, BEGIN_MS, CALM_LIMIT_MS, CALM_MS } from "../../../src/tmux/attach_gate.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

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
  assert.ok(!gate.isCalm);
  quick.abort();
  await until("a calm moment", () => gate.isCalm);
  await gate.begins(slow.signal);
  clock.advance(BEGIN_MS - 1);
  assert.ok(!gate.isCalm);
  clock.advance(1);
  await until("the end of the patience", () => gate.isCalm);
  slow.abort();
  await gate.begins(slow.signal);
  await until("a calm moment after a wrapper that has gone", () => gate.isCalm);
});

Deno.test("a new session, and anything that notifies clients, waits until no client is half attached [wr-many]", async () => {
  const clock = new FakeClock();
  const gate = new AttachGate(clock);
  const attached = [gate.attach(), gate.attach()];
  const order: string[] = [];
  const begins = gate.begins(new AbortController().signal).then(() => order.push("begins"));
  const news = gate.news(() => Promise.resolve(order.push("news")));
  for (const done of attached) {
    await until("both look again", () => clock.pending === 2);
    assert.deepEqual(order, []);
    done();
    done();
    clock.advance(10);
  }
  await Promise.all([begins, news]);
  assert.deepEqual(order.sort(), ["begins", "news"]);
});

Deno.test("a caller that waits for a calm moment waits while tmux notifies clients, but never for long [wr-many]", async () => {
  const clock = new FakeClock();
  const gate = new AttachGate(clock);
  const sent = Promise.withResolvers<void>();
  const news = gate.news(() => sent.promise);
  let isOver = false;
  const waiting = gate.whenCalm().then(() => isOver = true);
  await until("a look at the gate", () => clock.pending === 1);
  clock.advance(CALM_LIMIT_MS - 1);
  await until("another look", () => clock.pending === 1);
  assert.ok(!isOver);
  clock.advance(CALM_LIMIT_MS);
  await waiting;
  sent.resolve();
  await news;
  assert.ok(gate.isCalm);
});

Deno.test("clients may attach again after a notifying command that tmux refused [wr-many]", async () => {
  const gate = new AttachGate(new FakeClock());
  await assert.rejects(gate.news(() => Promise.reject(new Error("refused"))), /refused/);
  assert.ok(gate.isCalm);
});

Deno.test("a notifying command waits for a client that begins to attach while the command is pending [wr-many]", async () => {
  const clock = new FakeClock();
  const gate = new AttachGate(clock);
  let isSent = false;
  const news = gate.news(() => Promise.resolve(isSent = true));
  const attached = gate.attach();
  await until("a look at the gate", () => clock.pending === 1);
  assert.ok(!isSent);
  attached();
  clock.advance(10);
  await news;
});
