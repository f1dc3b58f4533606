/** Questions and answers: which fit together, and how an answer is rendered as text. */
import assert from "node:assert/strict";
import {
  type Answer,
  answerFault,
  answerFields,
  answerOf,
  answerText,
  AskData,
  askDataOf,
  askDeadline,
  askedOf,
  cardAnswerText,
  CardData,
  cardFault,
} from "../../../src/protocol/ask.ts";
import { ASK_TIMEOUT_MAX_SECONDS } from "../../../src/protocol/limits.ts";

const ask = (fields: Record<string, unknown>): AskData =>
  AskData.parse({ kind: "ask", timeoutSeconds: 300, ...fields });
const isAsk = (fields: Record<string, unknown>): boolean =>
  AskData.safeParse({ kind: "ask", timeoutSeconds: 300, ...fields }).success;

Deno.test("a question has one of three kinds and waits at most ten minutes [type-ask, lim-ask]", () => {
  assert.ok(isAsk({}) && isAsk({ kind: "prompt" }) && isAsk({ options: ["a", "b"], multiple: true }));
  assert.ok(isAsk({ kind: "input", fields: [{ name: "a", type: "choice", options: ["x"] }] }));
  assert.ok(isAsk({ timeoutSeconds: ASK_TIMEOUT_MAX_SECONDS }));
  assert.ok(!isAsk({ timeoutSeconds: ASK_TIMEOUT_MAX_SECONDS + 1 }));
  for (const options of [[], ["a", "a"], [""], ["a\u001b"], Array.from({ length: 21 }, (_, n) => `${n}`)]) {
    assert.ok(!isAsk({ options }), JSON.stringify(options));
  }
  for (
    const fields of [
      undefined,
      [],
      [{ name: "a b", type: "text" }],
      [{ name: "a", type: "date" }],
      [{ name: "a", type: "choice" }],
      [{ name: "a", type: "text", options: ["x"] }],
      [{ name: "a", type: "text" }, { name: "a", type: "number" }],
    ]
  ) assert.ok(!isAsk({ kind: "input", fields }), JSON.stringify(fields));
});

Deno.test("only a push of type ask is a question, and its deadline counts from createdAt", () => {
  const data = { kind: "prompt", timeoutSeconds: 120 };
  const found = askDataOf({ type: "ask", data }) ?? assert.fail("no question");
  assert.equal(askDeadline(1_000, found), 121_000);
  assert.equal(askDataOf({ type: "note", data }), undefined);
  assert.equal(askDataOf({ type: "ask", data: { kind: "vote" } }), undefined);
});

Deno.test("a push carries exactly one answer, which round-trips [type-answer]", () => {
  const answers: Answer[] = [
    { kind: "text", text: "two\nlines" },
    { kind: "choices", choices: ["a", "b"] },
    { kind: "values", values: { a: "x", b: 1.5, c: false } },
  ];
  for (const answer of answers) assert.deepEqual(answerOf(answerFields(answer)), answer);
  for (
    const push of [{}, { body: "x", data: { choices: ["a"] } }, { data: { choices: ["a"], values: {} } }, {
      data: { choices: [] },
    }]
  ) {
    assert.equal(answerOf(push), undefined, JSON.stringify(push));
  }
});

Deno.test("an answer's text has labels separated by commas and one value per line [mcp-late]", () => {
  assert.equal(answerText({ kind: "text", text: "as it is" }), "as it is");
  const values = { kind: "values", values: { user: "ada", password: "x" } } as const;
  assert.equal(answerText(values, new Set(["password"])), "user: ada\npassword: ••••");
  assert.equal(answerText({ kind: "choices", choices: ["Yes, deploy", "No"] }), "Yes, deploy, No");
  assert.equal(
    answerText({ kind: "values", values: { host: "a", port: 80, tls: true } }),
    "host: a\nport: 80\ntls: true",
  );
});

Deno.test("an answer either fits its question or gets an error that names the field", () => {
  const fault = (asked: AskData, answer: Answer): string | undefined => answerFault(asked, answer)?.pointer;
  const choices = (...chosen: string[]): Answer => ({ kind: "choices", choices: chosen });
  const one = ask({ options: ["a", "b"] });
  assert.equal(fault(one, choices("a")), undefined);
  assert.equal(fault(one, { kind: "text", text: "neither" }), undefined);
  for (const wrong of [choices("a", "b"), choices("c")]) assert.equal(fault(one, wrong), "/data/choices");
  const several = ask({ options: ["a", "b"], multiple: true });
  assert.equal(fault(several, choices("b", "a")), undefined);
  assert.equal(fault(several, choices("a", "a")), "/data/choices");
  assert.equal(fault(ask({}), choices("a")), "/data/choices");
  assert.equal(fault(ask({ kind: "prompt" }), { kind: "values", values: {} }), "/data/values");

  const form = ask({
    kind: "input",
    fields: [
      { name: "text", type: "text", optional: true },
      { name: "pick", type: "choice", options: ["x", "y"] },
    ],
  });
  const values = (given: Record<string, string | number | boolean>): Answer => ({
    kind: "values",
    values: given,
  });
  assert.equal(fault(form, values({ pick: "x" })), undefined);
  assert.equal(fault(form, values({ text: 1, pick: "x" })), "/data/values/text");
  assert.equal(fault(form, values({ pick: "z" })), "/data/values/pick");
  assert.equal(fault(form, values({ constructor: "x", pick: "x" })), "/data/values/constructor");
});

const colors = {
  text: "Which colors?",
  options: [{ label: "Red" }, { label: "Blue", description: "calm" }],
};
const card = CardData.parse({
  kind: "questions",
  timeoutSeconds: 300,
  questions: [{ ...colors, multiple: true }, {
    text: "How many?",
    options: [{ label: "1" }],
    freeText: true,
  }],
});
const approval = CardData.parse({
  kind: "approval",
  timeoutSeconds: 300,
  tool: "Bash",
  directory: "/work",
  digest: "ab".repeat(32),
  decisions: ["reject"],
  unusual: [],
});

Deno.test("a card counts only if it came sealed [card-sealed]", () => {
  const sealedFor = { host: "dev_listener_1", nonce: "", ciphertext: "", keys: {} };
  assert.deepEqual(askedOf({ type: "ask", data: { ...card }, sealedFor }), card);
  assert.equal(askedOf({ type: "ask", data: { ...card } }), undefined);
  assert.equal(askDataOf({ type: "ask", data: { ...approval } }), undefined);
  const plain = { kind: "prompt", timeoutSeconds: 30 };
  assert.deepEqual(askedOf({ type: "ask", data: plain }), plain);
});

Deno.test("an answer fits a card only with one answer to each of its questions [card-fits]", () => {
  const fault = (...answers: { options: number[]; text?: string }[]): string | undefined =>
    cardFault(card, { kind: "answers", answers });
  assert.equal(fault({ options: [0, 1] }, { options: [0] }), undefined);
  assert.equal(fault({ options: [1] }, { options: [], text: "three" }), undefined);
  const bad = [
    fault({ options: [0] }),
    fault({ options: [2] }, { options: [0] }),
    fault({ options: [0, 0] }, { options: [0] }),
    fault({ options: [] }, { options: [0] }),
    fault({ options: [], text: "green" }, { options: [0] }),
    fault({ options: [0] }, { options: [0], text: "both" }),
    cardFault(card, { kind: "text", text: "Red" }),
  ];
  assert.deepEqual(bad.filter((one) => one === undefined), []);
  const answer: Answer = { kind: "answers", answers: [{ options: [0, 1] }, { options: [], text: "three" }] };
  assert.equal(cardAnswerText(card, answer), "Red, Blue\nthree");
});

Deno.test("a decision fits only the request that it names, and only if it is offered [card-fits]", () => {
  const decided = { kind: "decided", decision: "reject", digest: "ab".repeat(32) } as const;
  assert.equal(cardFault(approval, decided), undefined);
  assert.equal(cardFault(approval, { ...decided, reason: "not now" }), undefined);
  assert.match(cardFault(approval, { ...decided, decision: "once" }) ?? "", /not offered/);
  assert.match(cardFault(approval, { ...decided, digest: "cd".repeat(32) }) ?? "", /another request/);
  assert.match(cardFault(approval, { kind: "choices", choices: ["once"] }) ?? "", /decision/);
  assert.match(cardFault(card, decided) ?? "", /answers/);
});

Deno.test("answers to cards survive the wire", () => {
  const answers: Answer[] = [
    { kind: "answers", answers: [{ options: [1] }, { options: [], text: "two\nlines" }] },
    { kind: "decided", decision: "reject", digest: "ab".repeat(32), reason: "not now" },
  ];
  for (const answer of answers) assert.deepEqual(answerOf(answerFields(answer)), answer);
});
