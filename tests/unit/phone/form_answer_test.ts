/** From what stands in a form to the values that a question takes. */
import assert from "node:assert/strict";
import { formAnswer } from "../../../src/phone/form_answer.ts";
import { answerFault, type AskField } from "../../../src/protocol/ask.ts";

const FIELDS: readonly AskField[] = [
  { name: "host", type: "text" },
  { name: "port", type: "number" },
  { name: "zone", type: "choice", options: ["a", "b"], optional: true },
  { name: "tls", type: "boolean" },
];

Deno.test("values get their types, blanks go, and what is left out is left out [mcp-input]", () => {
  const answer = formAnswer(FIELDS, { host: "  box ", port: "8080.5", zone: "", tls: true });
  assert.deepEqual(answer, { kind: "values", values: { host: "box", port: 8080.5, tls: true } });
  assert.deepEqual(formAnswer(FIELDS, { host: "box", port: "-1", zone: "b" }), {
    kind: "values",
    values: { host: "box", port: -1, zone: "b", tls: false },
  });
});

Deno.test("what the relay would take fits the question", () => {
  const answer = formAnswer(FIELDS, { host: "a\r\nb", port: "0", zone: "a" });
  assert.ok(answer.kind === "values");
  const ask = { kind: "input" as const, fields: [...FIELDS], timeoutSeconds: 120 };
  assert.equal(answerFault(ask, { kind: "values", values: answer.values }), undefined);
});

Deno.test("each faulty field is told, and why", () => {
  assert.deepEqual(formAnswer(FIELDS, { host: "a\u001b", port: "eighty" }), {
    kind: "faulty",
    faults: { host: "controls", port: "number" },
  });
  assert.deepEqual(formAnswer(FIELDS, {}), {
    kind: "faulty",
    faults: { host: "required", port: "required" },
  });
  const long = formAnswer(FIELDS, { host: "é".repeat(2_100), port: "1" });
  assert.deepEqual(long, { kind: "faulty", faults: { host: "too_long" } });
});
