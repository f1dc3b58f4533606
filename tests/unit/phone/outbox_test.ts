/** The outbox sends in order, once, and for as long as it takes. */

import assert from "node:assert/strict";
import { answerError, RelayError } from "../../../src/client/relay_error.ts";
import type { Message } from "../../../src/phone/message.ts";
import { Outbox, type OutboxOptions } from "../../../src/phone/outbox.ts";
import { failureDetail } from "../../../src/phone/requests.ts";
import { draftKeyOf } from "../../../src/phone/state.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";
import { idOf, messageOf } from "./samples.ts";

type Answer = "taken" | "hangs" | Error;

/** Never resolves; rejects when its signal fires. */
function hang({ signal }: Parameters<OutboxOptions["send"]>[1]): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

interface Earlier {
  /** Ids that an earlier page has stored; without them the messages are new. */
  stored?: readonly string[];
}

function outboxWith(messages: Message[], answers: Answer[], { stored }: Earlier = {}) {
  const clock = new FakeClock();
  const sent: string[] = [];
  const failed: string[] = [];
  const codes: string[] = [];
  const delayed: string[] = [];
  const remove = (id: string): void => void messages.splice(messages.findIndex((one) => one.id === id), 1);
  const outbox = new Outbox({
    isNew: () => stored === undefined,
    isWaiting: (id) => Promise.resolve(stored?.includes(id) ?? false),
    next: (held) => messages.find((message) => !held.has(draftKeyOf(message))),
    send: ({ id }, options) => {
      sent.push(id);
      const answer = answers.shift() ?? "taken";
      if (answer === "hangs") return hang(options);
      if (answer !== "taken") return Promise.reject(answer);
      return Promise.resolve({ id, state: "queued" as const, expiresAt: 0 });
    },
    onAccepted: ({ id }) => Promise.resolve(remove(id)),
    onDelayed: (id, { code }) => void delayed.push(`${code} ${id.at(-1)}`),
    onGone: remove,
    onFailed: (id, { code }) => {
      failed.push(id);
      codes.push(code);
      remove(id);
      return Promise.resolve();
    },
    clock,
    random: () => 0.5,
  });
  return { outbox, clock, sent, failed, codes, delayed };
}

const away = new RelayError("away", { code: "unreachable" });

Deno.test("messages are sent one after the other, in order", async () => {
  const { outbox, sent } = outboxWith([messageOf(1), messageOf(2)], []);
  await Promise.all([outbox.pump(), outbox.pump()]);
  assert.deepEqual(sent, [idOf(1), idOf(2)]);
});

Deno.test("an unreachable relay gets the same push again later, and nothing overtakes it", async () => {
  const { outbox, sent, clock } = outboxWith([messageOf(1), messageOf(2)], [away, away]);
  await outbox.pump();
  assert.deepEqual(sent, [idOf(1)]);
  clock.advance(125);
  await until("the second try", () => sent.length === 2 && clock.pending === 1);
  clock.advance(250);
  await until("the rest", () => sent.length === 4);
  assert.deepEqual(sent, [idOf(1), idOf(1), idOf(1), idOf(2)]);
});

for (
  const { retryAfter, waits } of [{ retryAfter: "3", waits: 3 }, { retryAfter: "999999999", waits: 3_600 }]
) {
  Deno.test(`it waits as long as Retry-After says, but at most an hour: ${retryAfter}`, async () => {
    const limited = answerError("send it", { status: 429, text: "", retryAfter });
    const { outbox, sent, clock } = outboxWith([messageOf(1)], [limited]);
    await outbox.pump();
    clock.advance(waits * 1_000 - 1);
    assert.equal(sent.length, 1);
    clock.advance(1);
    await until("the second try", () => sent.length === 2);
  });
}

Deno.test("an attempt that hangs in a dead network is restarted when the network is back", async () => {
  const { outbox, sent, clock } = outboxWith([messageOf(1)], ["hangs"]);
  const pumping = outbox.pump();
  await outbox.hurry();
  await pumping;
  assert.deepEqual(sent, [idOf(1), idOf(1)]);
  assert.equal(clock.pending, 0);
});

Deno.test("an uplink too slow for a message is not interrupted forever: the third try gets five seconds, the next one ten [ux-outbox]", async () => {
  const { outbox, sent, clock } = outboxWith([messageOf(1)], ["hangs", "hangs", "hangs", "hangs"]);
  const pumping = outbox.pump();
  for (let tries = 2; tries <= 3; tries++) {
    await outbox.hurry();
    await until("the next try", () => sent.length === tries);
  }
  for (const [waitMs, tries] of [[4_999, 3], [1, 4], [9_999, 4], [1, 5]] as const) {
    clock.advance(waitMs);
    await outbox.hurry();
    await until(`try ${tries}`, () => sent.length === tries);
  }
  await pumping;
});

Deno.test("nothing is sent after it was stopped", async () => {
  const { outbox, sent } = outboxWith([messageOf(1), messageOf(2)], []);
  const pumping = outbox.pump();
  outbox.stop();
  await pumping;
  assert.deepEqual(sent, [idOf(1)]);
});

Deno.test("a message that the relay will never accept is set aside, and the rest is sent", async () => {
  const refused = new RelayError("no such device", { code: "unknown_device", status: 404 });
  const { outbox, sent, failed } = outboxWith([messageOf(1), messageOf(2)], [refused]);
  await outbox.pump();
  assert.deepEqual([sent, failed], [[idOf(1), idOf(2)], [idOf(1)]]);
});

Deno.test("a revoked key loses no message", async () => {
  const unknown = new RelayError("unknown key", { code: "unauthenticated", status: 401 });
  const { outbox, failed, clock } = outboxWith([messageOf(1)], [unknown]);
  await outbox.pump();
  assert.deepEqual(failed, []);
  outbox.stop();
  assert.equal(clock.pending, 0);
});

Deno.test("an error from a proxy in place of the relay sets no message aside [ux-outbox]", async () => {
  const strange = (status: number) => new RelayError("not a relay", { code: "bad_answer", status });
  const { outbox, sent, failed, clock } = outboxWith([messageOf(1)], [strange(404), strange(403)]);
  await outbox.pump();
  clock.advance(125);
  await until("the second try", () => sent.length === 2 && clock.pending === 1);
  clock.advance(250);
  await until("the third try", () => sent.length === 3);
  assert.deepEqual(failed, []);
});

Deno.test("a message that is too large for a proxy, or that was mistaken for another, is set aside [ux-outbox]", async () => {
  for (const status of [413, 0]) {
    const { outbox, failed } = outboxWith([messageOf(1)], [
      new RelayError("too large", { code: "bad_answer", status }),
    ]);
    await outbox.pump();
    assert.deepEqual(failed, [idOf(1)]);
  }
});

Deno.test("a message that this phone cannot prepare is set aside and says so, and the rest is sent [ux-outbox]", async () => {
  const broken = new DOMException("full", "QuotaExceededError");
  const { outbox, sent, codes } = outboxWith([messageOf(1), messageOf(2)], [broken]);
  await outbox.pump();
  assert.deepEqual([sent, codes], [[idOf(1), idOf(2)], ["not_prepared"]]);
  assert.match(failureDetail({ code: "not_prepared", message: "" }), /Reload the page/);
});

Deno.test("a message is tried again while the browser has closed the database [ux-outbox]", async () => {
  const lost = new DOMException("Connection to Indexed Database server lost", "UnknownError");
  const { outbox, sent, failed, clock } = outboxWith([messageOf(1)], [lost]);
  await outbox.pump();
  assert.deepEqual([sent.length, failed, clock.pending], [1, [], 1]);
  clock.advance(125);
  await until("the second try", () => sent.length === 2);
});

Deno.test("a message that a proxy refuses says so after three tries, and delays only its own session [ux-outbox, ux-no-dead-end]", async () => {
  const refused = new RelayError("not a relay", { code: "bad_answer", status: 403 });
  const other = { ...messageOf(3), session: "svc-other" };
  const messages = [messageOf(1), messageOf(2), other];
  const { outbox, sent, clock, delayed, failed } = outboxWith(messages, [
    refused,
    "taken",
    refused,
    refused,
  ]);
  await outbox.pump();
  assert.deepEqual(sent, [idOf(1), idOf(3)], "the second message to the session does not overtake the first");
  clock.advance(125);
  await until("the second try", () => sent.length === 3 && clock.pending === 1);
  assert.deepEqual(delayed, []);
  clock.advance(250);
  await until("the third try", () => sent.length === 4 && clock.pending === 1);
  assert.deepEqual([delayed, failed], [["refused_by_proxy 1"], []]);
  clock.advance(500);
  await until("the end", () => messages.length === 0);
  assert.deepEqual(sent.slice(4), [idOf(1), idOf(2)]);
});

Deno.test("a message that the relay temporarily cannot accept says that it is tried again [ux-outbox]", async () => {
  const busy = new RelayError("the relay is starting", { code: "bad_answer", status: 502 });
  const { outbox, delayed, failed } = outboxWith([messageOf(1)], [busy, busy, busy]);
  for (let tries = 1; tries <= 3; tries++) await outbox.hurry();
  assert.deepEqual([delayed, failed], [["not_yet 1"], []]);
});

Deno.test("an answer that a proxy refuses does not delay answers to other questions [ux-outbox]", async () => {
  const refused = new RelayError("not a relay", { code: "bad_answer", status: 403 });
  const [one, other] = [1, 2].map((n) => ({
    ...messageOf(n),
    deviceId: "",
    session: "",
    answers: { question: `question ${n}` },
  }));
  const { outbox, sent } = outboxWith([one, other].flatMap((answer) => answer ?? []), [refused, "taken"]);
  await outbox.pump();
  assert.deepEqual(sent, [idOf(1), idOf(2)]);
  outbox.stop();
});

Deno.test("a message that gets no answer says after three tries that it is tried again: the page may be live while its requests are blocked [ux-outbox, ux-no-dead-end]", async () => {
  const { outbox, sent, clock, delayed, failed } = outboxWith([messageOf(1)], [away, away, away]);
  for (let tries = 1; tries <= 3; tries++) {
    assert.deepEqual(delayed, []);
    await outbox.hurry();
    assert.equal(sent.length, tries);
  }
  assert.deepEqual([delayed, failed, clock.pending], [["not_yet 1"], [], 1]);
});

Deno.test("a message of an earlier page is sent only if no other page has cancelled it in the meantime [ux-outbox]", async () => {
  const earlier = { stored: [idOf(2)] };
  const messages = [messageOf(1), messageOf(2)];
  const { outbox, sent, failed } = outboxWith(messages, [], earlier);
  await outbox.pump();
  assert.deepEqual([sent, failed, messages], [[idOf(2)], [], []]);
});
