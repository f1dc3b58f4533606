/** A long request that is kept for phones, and a question that is asked again. */
import assert from "node:assert/strict";
import type { DialogCall } from "../../../../src/agents/hooks.ts";
import { CARD_SECONDS } from "../../../../src/listener/cards/cards.ts";
import { ASKED_MAX } from "../../../../src/listener/cards/card.ts";
import type { Answer } from "../../../../src/protocol/ask.ts";
import { CARD_PART_CHARS } from "../../../../src/protocol/limits.ts";
import { shownDigest } from "../../../../src/protocol/shown_digest.ts";

import { answerOf, BLUE, PHONE, QUESTION, Scene, SESSION } from "./card_bench.ts";

Deno.test("a long request is kept for phones to fetch while its card is open, for its session, at a rate and in a bounded amount [card-fetched]", async () => {
  const scene = await Scene.make();
  const request = "+ a line\n".repeat(200_000);
  const long: DialogCall["dialog"] = {
    kind: "approval",
    tool: "Write",
    request,
    decisions: ["once", "reject"],
  };
  const asked = scene.ask(long);
  const { id, card } = await scene.card();
  assert.ok(card.kind === "approval" && card.whole !== undefined);
  const asker = { session: SESSION, phone: PHONE };
  const { length } = card.whole;
  let text = "";
  while (text.length < length) {
    text += scene.cards.part({ type: "card.part", card: id, at: text.length }, asker)?.text;
  }
  assert.equal(text, request);
  const part = (asking: Partial<typeof asker>, of = id): string | undefined =>
    scene.cards.part({ type: "card.part", card: of, at: 0 }, { ...asker, ...asking })?.text;
  assert.deepEqual([part({ session: "svc-other" }), part({}, crypto.randomUUID())], ["", ""]);
  while (part({}) !== undefined);
  assert.equal(part({ phone: "dev_phone_2" })?.length, CARD_PART_CHARS);
  scene.clock.advance(1_000);
  assert.equal(part({})?.length, CARD_PART_CHARS);
  // No room for more: refusable only.
  const others: Promise<unknown>[] = [];
  const wholes: boolean[] = [];
  for (const place of [1, 2, 3, 4, 5]) {
    others.push(scene.ask(long));
    const { card: one } = await scene.card(place);
    wholes.push(one.kind === "approval" && one.whole !== undefined);
  }
  assert.deepEqual(wholes, [true, true, true, false, false]);
  const once: Answer = { kind: "decided", decision: "once", digest: card.digest };
  const reasons: unknown[] = [];
  for (
    const shown of [undefined, "", await shownDigest(id, text.slice(1)), await shownDigest(card.digest, text)]
  ) {
    reasons.push((await scene.answer(id, { ...once, shown })).reason);
  }
  assert.deepEqual(reasons, Array.from(reasons, () => "invalid_body"));
  const outcome = scene.answer(id, { ...once, shown: await shownDigest(id, text) });
  (await asked)?.handedOver(true);
  // Also while it is not known yet whether the agent has taken it.
  assert.equal(part({ phone: "dev_phone_2" }), "");
  assert.equal((await scene.ended(outcome)).state, "submitted");
  scene.cards.stop();
  await Promise.all(others);
});

Deno.test("requests that come together take no more room than one after another [card-fetched]", async () => {
  const scene = await Scene.make();
  const request = "+ a line\n".repeat(200_000);
  const long: DialogCall["dialog"] = {
    kind: "approval",
    tool: "Write",
    request,
    decisions: ["once", "reject"],
  };
  const asked = Array.from({ length: 6 }, () => scene.ask(long));
  const cards = await Promise.all(asked.map((_, place) => scene.card(place)));
  const wholes = cards.filter(({ card }) => card.kind === "approval" && card.whole !== undefined);
  assert.deepEqual([wholes.length, cards.length], [4, 6]);
  scene.cards.stop();
  await Promise.all(asked);
});

Deno.test("a question closed by what no paired phone has sealed is asked again, and after a few times at the computer [card-reopened]", async () => {
  const scene = await Scene.make();
  const asked = scene.ask(QUESTION);
  const closed = { id: "", type: "ask.answer", from: "dev_x", createdAt: 0, expiresAt: 0 };
  const { id: first } = await scene.card(0);
  scene.clock.advance(100_000);
  scene.cards.refused({ ...closed, inReplyTo: first }, { reason: "unsealable" });
  const { id, card } = await scene.card(1);
  assert.equal(card.timeoutSeconds, CARD_SECONDS - 100);
  assert.deepEqual([scene.sessionOf(first), scene.sessionOf(id)], [undefined, SESSION]);
  assert.equal((await scene.answer(first, BLUE)).reason, "dialog_gone");
  const outcome = scene.answer(id, BLUE);
  (await asked)?.handedOver(true);
  assert.deepEqual(answerOf(await asked), { kind: "answers", answers: [{ options: [1] }] });
  assert.equal((await scene.ended(outcome)).state, "submitted");

  const again = scene.ask(QUESTION);
  for (let place = 2; place < 2 + ASKED_MAX; place++) {
    const { id: inReplyTo } = await scene.card(place);
    scene.cards.refused({ ...closed, inReplyTo }, {
      reason: place % 2 === 0 ? "counter_used" : "sealed_required",
    });
  }
  assert.equal(await again, undefined);
  assert.equal(scene.sent.length, 2 + ASKED_MAX);
  assert.equal(scene.withdrawn.at(-1), scene.sent.at(-1)?.id);
});
