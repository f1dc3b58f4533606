/** Holds the requirements and the tests against each other, and shows that the check itself can fail. */
import assert from "node:assert/strict";
import { readSources } from "./helpers/sources.ts";
import { BUILT, type Requirement, REQUIREMENTS } from "./requirements.ts";
import { breaches, citedIds, testNames } from "./requirements/check.ts";

const ROW: Requirement = { id: "push-type", source: "spec 2", text: "A push has a type.", by: "main" };
const CITING = { path: "tests/a_test.ts", text: 'Deno.test("a push has a type [push-type]", () => {});' };

Deno.test("every built requirement has a test, and every cited one exists [style-rows]", async () => {
  assert.deepEqual(breaches(REQUIREMENTS, await readSources("tests"), BUILT), []);
});

Deno.test("names are read from tests, steps and cases, however they are written", () => {
  assert.deepEqual(testNames('Deno.test("plain [a-b]", fn); t.step(`step ${n} [c-d]`, fn)'), [
    "plain [a-b]",
    "step ${n} [c-d]",
  ]);
  assert.deepEqual(testNames('Deno.test({\n  name: "object \\"quoted\\" [a-b]",'), [
    'object \\"quoted\\" [a-b]',
  ]);
  assert.deepEqual(testNames('Deno.test(\n  "first part, " +\n    "second [a-b]",'), [
    "first part, second [a-b]",
  ]);
  assert.deepEqual(testNames('caseOf(\n  "of a seam [a-b]", run), testOnBoth("on both [c-d]", run)'), [
    "of a seam [a-b]",
    "on both [c-d]",
  ]);
  assert.deepEqual(testNames('const cases = { "a case [a-b]": async (store) => {}, "no case": 1 }'), [
    "a case [a-b]",
  ]);
  assert.deepEqual(testNames(`const code = 'Deno.test("inside a string [a-b]")';`), []);
  assert.deepEqual(testNames('// Deno.test("commented out [a-b]")'), []);
});

Deno.test("ids are the words with hyphens in the last brackets of a name", () => {
  assert.deepEqual(citedIds("one and another [push-type, wrap-next]"), ["push-type", "wrap-next"]);
  assert.deepEqual(citedIds("an array [0] and [none]"), []);
  assert.deepEqual(citedIds("in the middle [push-type] is no citation"), []);
});

Deno.test("a row with its test is no breach", () => {
  assert.deepEqual(breaches([ROW], [CITING], ["main"]), []);
});

Deno.test("an unknown id, a row without a test and an id that stands twice are breaches", () => {
  assert.match(breaches([], [CITING], ["main"]).join(), /a_test\.ts cites "push-type": no row has this id/);
  assert.match(breaches([ROW], [], ["main"]).join(), /"push-type" has no test \(spec 2\)/);
  assert.match(breaches([ROW, ROW], [CITING], ["main"]).join(), /"push-type" stands twice/);
});

Deno.test("a row of a capability not built yet, or with a reason, needs no test", () => {
  assert.deepEqual(breaches([{ ...ROW, by: "mirror" }], [], ["main"]), []);
  assert.deepEqual(breaches([{ ...ROW, untested: "only a person can see it" }], [], ["main"]), []);
  assert.match(breaches([{ ...ROW, untested: "no" }], [CITING], ["main"]).join(), /take the reason away/);
});

Deno.test("a file of cases counts only when a test leads to it", () => {
  const cases = { path: "tests/contract/store_cases.ts", text: 'const c = { name: "x [push-type]" };' };
  const test = { path: "tests/contract/store_test.ts", text: 'import { c } from "./store_cases.ts";' };
  const between = { path: "tests/contract/b.ts", text: 'import { c } from "./store_cases.ts";' };
  const through = { path: "tests/contract/c_test.ts", text: 'run(import.meta.resolve("./b.ts"));' };
  assert.equal(breaches([ROW], [cases], ["main"]).length, 1);
  assert.equal(breaches([ROW], [cases, between], ["main"]).length, 1);
  assert.deepEqual(breaches([ROW], [cases, between, through], ["main"]), []);
  assert.deepEqual(breaches([ROW], [cases, test], ["main"]), []);
});
