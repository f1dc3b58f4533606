/** A listener's pushes are sent in order, a window at a time, and resent until acknowledged. */
import assert from "node:assert/strict";
import { PUSH_RESEND_MS } from "../../../src/protocol/limits.ts";
import { Outbox, REFILL_PUSHES, WINDOW_MAX_BYTES, WINDOW_PUSHES } from "../../../src/relay/outbox.ts";
import type { StoredPush } from "../../../src/store/store.ts";
import { aPush } from "../../contract/store_samples.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

const stored = (seq: number): StoredPush => ({ ...aPush(seq), seq });
const idOf = (seq: number): string => aPush(seq).push.id;
const offered = (seq: number) => ({ id: idOf(seq), seq, text: `push ${seq}` });
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** More reads of the store than any of these tests needs. */
const LOADS_MAX = 100;

/** Makes an outbox over a store with these sequence numbers; `sent` lists the numbers sent. */
function makeOutbox(seqs: number[], { cancels = [] }: { cancels?: number[] } = {}) {
  const clock = new FakeClock();
  const sent: number[] = [];
  const held: PromiseWithResolvers<void>[] = [];
  const state = { wait: false, broken: false, loads: 0 };
  const outbox = new Outbox({
    claim: () => true,
    loadCancels: ({ afterSeq, limit }) =>
      Promise.resolve(cancels.filter((seq) => seq > afterSeq).slice(0, limit).map(stored)),
    send: (text) =>
      void sent.push(Number(/push (\d+)/.exec(text)?.[1] ?? Number(/text (\d+)/.exec(text)?.[1]))),
    async load({ afterSeq, limit }) {
      if (++state.loads > LOADS_MAX) throw new Error("the same page is read again and again");
      const page = seqs.filter((seq) => seq > afterSeq).slice(0, limit).map(stored);
      if (state.broken) throw new Error("no store");
      if (state.wait) {
        const gate = Promise.withResolvers<void>();
        held.push(gate);
        await gate.promise;
      }
      return page;
    },
    elapsed: () => clock.elapsed(),
  });
  return { outbox, sent, clock, state, release: () => held.shift()?.resolve() };
}

Deno.test("stored pushes are sent first, in order, then accepted ones", async () => {
  const { outbox, sent } = makeOutbox([1, 2, 3]);
  await outbox.fill();
  outbox.offer(offered(4));
  assert.deepEqual(sent, [1, 2, 3, 4]);
});

Deno.test("a push accepted while the store is read is sent after the older ones", async () => {
  const seqs = [1, 2];
  const { outbox, sent, state, release } = makeOutbox(seqs);
  state.wait = true;
  const filling = outbox.fill();
  seqs.push(3);
  outbox.offer(offered(3));
  assert.deepEqual(sent, []);
  state.wait = false;
  release();
  await filling;
  assert.deepEqual(sent, [1, 2, 3]);
});

Deno.test("no more than a window is in flight, and acknowledgements make room in order", async () => {
  const all = range(1, WINDOW_PUSHES + 10);
  const { outbox, sent } = makeOutbox(all);
  await outbox.fill();
  assert.deepEqual(sent, range(1, WINDOW_PUSHES));
  all.push(WINDOW_PUSHES + 11);
  outbox.offer(offered(WINDOW_PUSHES + 11));
  assert.equal(sent.length, WINDOW_PUSHES);
  for (const seq of range(1, REFILL_PUSHES)) outbox.acknowledged(idOf(seq));
  await outbox.fill();
  assert.deepEqual(sent, all);
});

Deno.test("256 pushes at once are all sent, in order, before the first of them is acknowledged [push-in-flight]", async () => {
  const { outbox, sent, state } = makeOutbox([]);
  await outbox.fill();
  const { loads } = state;
  for (const seq of range(1, 256)) outbox.offer(offered(seq));
  assert.deepEqual(sent, range(1, 256));
  assert.equal(state.loads, loads);
});

Deno.test("a full window is refilled a page at a time, not with a read for each acknowledgement", async () => {
  const all = range(1, WINDOW_PUSHES + 2 * REFILL_PUSHES);
  const { outbox, sent, state } = makeOutbox(all);
  await outbox.fill();
  const { loads } = state;
  for (const seq of range(1, REFILL_PUSHES)) {
    assert.equal(state.loads, loads);
    outbox.acknowledged(idOf(seq));
    await outbox.fill();
  }
  assert.equal(state.loads, loads + 1);
  assert.deepEqual(sent, range(1, WINDOW_PUSHES + REFILL_PUSHES));
});

Deno.test("the bytes of long pushes count toward the window", async () => {
  const { outbox, sent } = makeOutbox([]);
  await outbox.fill();
  const long = "x".repeat(WINDOW_MAX_BYTES / 4);
  for (const seq of range(1, 6)) outbox.offer({ ...offered(seq), text: `push ${seq} ${long}` });
  assert.deepEqual(sent, range(1, 4));
  outbox.acknowledged(idOf(1));
  outbox.offer({ id: idOf(7), seq: 7, text: "push 7" });
  assert.deepEqual(sent, range(1, 4));
});

Deno.test("any number of cancellations is sent first, and then what follows them [cancel-atomic]", async () => {
  for (const count of [1, WINDOW_PUSHES / 2, WINDOW_PUSHES - 1, WINDOW_PUSHES, WINDOW_PUSHES + 9]) {
    const all = range(1, count + 5);
    const cancels = range(1, count);
    const stored = [...all];
    const { outbox, sent } = makeOutbox(stored, { cancels });
    await outbox.fill();
    assert.deepEqual(sent.slice(0, count), cancels.slice(0, WINDOW_PUSHES));
    for (const seq of cancels.slice(0, WINDOW_PUSHES)) outbox.acknowledged(idOf(seq));
    stored.splice(0, Math.min(count, WINDOW_PUSHES));
    await outbox.fill();
    assert.deepEqual(sent, all);
  }
});

Deno.test("only unacknowledged pushes are resent [ev-push-resend]", async () => {
  const { outbox, sent, clock } = makeOutbox([1, 2]);
  await outbox.fill();
  clock.advance(PUSH_RESEND_MS - 1);
  assert.equal(outbox.resendDue(), 0);
  outbox.acknowledged(idOf(1));
  clock.advance(1);
  assert.equal(outbox.resendDue(), 1);
  assert.equal(outbox.resendDue(), 0);
  assert.deepEqual(sent, [1, 2, 2]);
});

Deno.test("when the store lost an acknowledgement, pushes that are not final are sent again, even those acknowledged before [fault-disk, ev-push-resend]", async () => {
  const { outbox, sent } = makeOutbox([1, 2]);
  await outbox.fill();
  outbox.acknowledged(idOf(1));
  outbox.reload();
  await outbox.fill();
  assert.deepEqual(sent, [1, 2, 1]);
});

Deno.test("a push in flight is not sent twice", async () => {
  const { outbox, sent } = makeOutbox([1]);
  await outbox.fill();
  outbox.offer(offered(1));
  assert.deepEqual(sent, [1]);
});

Deno.test("a failing store is asked again", async () => {
  const { outbox, sent, state } = makeOutbox([1]);
  state.broken = true;
  await assert.rejects(outbox.fill());
  assert.equal(outbox.wantsMore, true);
  state.broken = false;
  await outbox.fill();
  assert.deepEqual(sent, [1]);
  assert.equal(outbox.wantsMore, false);
});

Deno.test("another node's older push is not skipped", async () => {
  const seqs = [6];
  const { outbox, sent, state, release } = makeOutbox(seqs);
  await outbox.fill();
  state.wait = true;
  outbox.offer(offered(7));
  seqs.unshift(5);
  seqs.push(7);
  for (const seq of range(8, WINDOW_PUSHES + 6)) seqs.push(seq), outbox.offer(offered(seq));
  outbox.offer(offered(5));
  for (const seq of range(6, 6 + REFILL_PUSHES)) outbox.acknowledged(idOf(seq));
  state.wait = false;
  await outbox.fill();
  release();
  assert.ok(sent.includes(5));
});
