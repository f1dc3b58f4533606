/** Cards: which of them have options for a tap. */
import assert from "node:assert/strict";
import { singleOptions } from "../../../src/phone/cards.ts";
import type { Asked, CardQuestion } from "../../../src/protocol/ask.ts";

const OPTIONS = [{ label: "a" }, { label: "b", description: "the second" }, { label: "c" }];
const ONE: CardQuestion = { text: "Which?", options: OPTIONS, freeText: true };
const MANY: CardQuestion = { text: "Which ones?", options: OPTIONS, multiple: true };
const FREE: CardQuestion = { text: "What name?", options: [], freeText: true };

const cardOf = (...questions: CardQuestion[]): Asked => ({
  kind: "questions",
  questions,
  timeoutSeconds: 60,
});

Deno.test("only one question with one answer has options to tap [card-shown, card-notified]", () => {
  assert.equal(singleOptions(cardOf(ONE)).length, 3);
  for (const card of [cardOf(MANY), cardOf(ONE, ONE), cardOf(FREE)]) {
    assert.deepEqual(singleOptions(card), []);
  }
});
