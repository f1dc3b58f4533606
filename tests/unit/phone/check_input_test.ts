/** Checking texts and forms by the wire's own rules before they are sent. */

import assert from "node:assert/strict";
import { checkBody, checkForm } from "../../../src/phone/check_input.ts";
import { answerFault, type AskField } from "../../../src/protocol/ask.ts";

Deno.test("a text can be sent if the relay would accept it", () => {
  for (const text of ["hello", "two\nlines", "\ttab", "👨‍👩‍👧", "a".repeat(16_384)]) {
    assert.equal(checkBody(text).sendable, true);
  }
  for (const text of ["", " \n ", "\u001b[A", "a".repeat(16_385), "\ud800"]) {
    assert.equal(checkBody(text).sendable, false);
  }
});

Deno.test("length is counted in bytes, after normalizing line ends, and shown when it matters", () => {
  assert.equal(checkBody("é\r\n").bytes, 3);
  assert.equal(checkBody("a".repeat(100)).showSize, false);
  assert.equal(checkBody("é".repeat(7_000)).showSize, true);
  assert.equal(checkBody("é".repeat(8_193)).fault, "too_long");
  assert.equal(checkBody("\u0007").fault, "controls");
});

const FIELDS: readonly AskField[] = [
  { name: "host", type: "text" },
  { name: "port", type: "number" },
  { name: "zone", type: "choice", options: ["a", "b"], optional: true },
  { name: "tls", type: "boolean" },
];

Deno.test("values get their types, blanks are trimmed, and empty optional fields are left out [mcp-input]", () => {
  const answer = checkForm(FIELDS, { host: "  box ", port: "8080.5", zone: "", tls: true });
  assert.deepEqual(answer, { kind: "values", values: { host: "box", port: 8080.5, tls: true } });
  assert.deepEqual(checkForm(FIELDS, { host: "box", port: "-1", zone: "b" }), {
    kind: "values",
    values: { host: "box", port: -1, zone: "b", tls: false },
  });
});

Deno.test("a secret keeps its blanks [mcp-input]", () => {
  const fields: AskField[] = [{ name: "password", type: "text", secret: true }];
  for (const password of [" pass word ", " "]) {
    assert.deepEqual(checkForm(fields, { password }), { kind: "values", values: { password } });
  }
  assert.equal(checkForm(fields, { password: "" }).kind, "invalid");
});

Deno.test("a number may have a decimal comma, unless the comma may group thousands [mcp-input]", () => {
  const fields: AskField[] = [{ name: "n", type: "number" }];
  for (const [text, n] of [["1,5", 1.5], ["-0,125", -0.125], [",5", 0.5], ["1234,567", 1234.567]] as const) {
    assert.deepEqual(checkForm(fields, { n: text }), { kind: "values", values: { n } });
  }
  for (const text of ["1,500", "-12,000", "1,2,3", "1.000,5", ","]) {
    assert.deepEqual(checkForm(fields, { n: text }), { kind: "invalid", faults: { n: "number" } });
  }
});

Deno.test("where a comma is decimal, points group thousands, and a single one before three digits is not guessed at [mcp-input, ux-languages]", () => {
  const fields: AskField[] = [{ name: "n", type: "number" }];
  const check = (n: string) => checkForm(fields, { n }, { commaIsDecimal: true });
  const read = [
    ["1.500.000", 1_500_000],
    ["1.500,5", 1_500.5],
    ["-1.500.000,25", -1_500_000.25],
    ["1,500", 1.5],
    ["1.5", 1.5],
    ["0.125", 0.125],
    ["1234.567", 1_234.567],
    ["1500", 1_500],
  ] as const;
  for (const [text, n] of read) assert.deepEqual(check(text), { kind: "values", values: { n } }, text);
  for (const text of ["1.500", "3.141", "-12.000", "1.50.000", "1,2,3", "1,000.5"]) {
    assert.deepEqual(check(text), { kind: "invalid", faults: { n: "number" } }, text);
  }
});

Deno.test("a form that passes the check is accepted for the question", () => {
  const answer = checkForm(FIELDS, { host: "a\r\nb", port: "0", zone: "a" });
  assert.ok(answer.kind === "values");
  const ask = { kind: "input" as const, fields: [...FIELDS], timeoutSeconds: 120 };
  assert.equal(answerFault(ask, { kind: "values", values: answer.values }), undefined);
});

Deno.test("each invalid field is reported with the reason", () => {
  assert.deepEqual(checkForm(FIELDS, { host: "a\u001b", port: "eighty" }), {
    kind: "invalid",
    faults: { host: "controls", port: "number" },
  });
  assert.deepEqual(checkForm(FIELDS, {}), {
    kind: "invalid",
    faults: { host: "required", port: "required" },
  });
  const long = checkForm(FIELDS, { host: "é".repeat(2_100), port: "1" });
  assert.deepEqual(long, { kind: "invalid", faults: { host: "too_long" } });
});
