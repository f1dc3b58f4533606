/** The inputs of a questions card: choices, own words, the draft that stores them, and the answer. */
import assert from "node:assert/strict";
import {
  answersOf,
  draftOf,
  entriesOf,
  type QuestionsCard,
  withOption,
  withOwnWords,
} from "../../../src/phone/views/questions_form.tsx";
import type { CardQuestion } from "../../../src/protocol/ask.ts";

const OPTIONS = [{ label: "a" }, { label: "b", description: "the second" }, { label: "c" }];
const ONE: CardQuestion = { text: "Which?", options: OPTIONS, freeText: true };
const MANY: CardQuestion = { text: "Which ones?", options: OPTIONS, multiple: true };
const FREE: CardQuestion = { text: "What name?", options: [], freeText: true };

const cardOf = (...questions: CardQuestion[]): QuestionsCard => ({
  kind: "questions",
  questions,
  timeoutSeconds: 60,
});
const EMPTY = { options: [], isOwn: false, text: "" };

Deno.test("an option replaces another one and the own words; several are kept in order [card-shown]", () => {
  const own = { ...withOwnWords(ONE, EMPTY), text: "mine" };
  assert.deepEqual(withOption(ONE, own, 1), { options: [1], isOwn: false, text: "mine" });
  assert.deepEqual(withOwnWords(ONE, withOption(ONE, EMPTY, 1)).options, []);
  const both = withOption(MANY, withOption(MANY, EMPTY, 2), 0);
  assert.deepEqual(both.options, [0, 2]);
  assert.deepEqual(withOption(MANY, both, 0).options, [2]);
});

Deno.test("the form has an answer once each question has one that the agent accepts [card-shown, card-fits]", () => {
  const card = cardOf(ONE, MANY, FREE);
  const entries = entriesOf(card, "");
  assert.equal(answersOf(card, entries), undefined);
  const chosen = [withOption(ONE, EMPTY, 1), withOption(MANY, EMPTY, 2), { ...EMPTY, text: "x" }];
  assert.deepEqual(answersOf(card, chosen), [{ options: [1] }, { options: [2] }, {
    options: [],
    text: "x",
  }]);
  const own = (text: string) => [{ ...withOwnWords(ONE, EMPTY), text }, ...chosen.slice(1)];
  assert.deepEqual(answersOf(card, own("mine"))?.[0], { options: [], text: "mine" });
  assert.equal(answersOf(card, own(" ")), undefined);
  assert.equal(answersOf(card, own("\u0007")), undefined);
});

Deno.test("a draft keeps the inputs, and a draft of another form is ignored [card-shown]", () => {
  const card = cardOf(ONE, MANY);
  const entries = [{ ...withOwnWords(ONE, EMPTY), text: "mine" }, withOption(MANY, EMPTY, 1)];
  assert.deepEqual(entriesOf(card, draftOf(entries)), entries);
  for (const draft of ["", "text", "{}", "[1,null]", '[{"options":[9],"isOwn":"yes","text":1}]']) {
    assert.deepEqual(entriesOf(card, draft), [EMPTY, EMPTY], draft);
  }
});
