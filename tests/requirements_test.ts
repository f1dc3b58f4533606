/** Compares the requirements with the tests and the documents, and shows that the check itself can fail. */
import assert from "node:assert/strict";
import { readPages, readSources } from "./helpers/sources.ts";
import { BUILT, type Requirement, REQUIREMENTS } from "./requirements.ts";
import { breaches, citedIds, testNames, unknownSources } from "./requirements/check.ts";

const ROW: Requirement = {
  id: "push-type",
  source: "docs/a.md, Push",
  text: "A push has a type.",
  by: "main",
};
const CITING = { path: "tests/a_test.ts", text: 'Deno.test("a push has a type [push-type]", () => {});' };

Deno.test("every built requirement has a test, and every cited one exists [style-rows]", async () => {
  assert.deepEqual(breaches(REQUIREMENTS, await readSources("tests"), BUILT), []);
});

Deno.test("every requirement's source names a heading of a document [style-rows]", async () => {
  assert.deepEqual(unknownSources(REQUIREMENTS, await readPages()), []);
});

Deno.test("a source without a document, or without a heading of it, is reported", () => {
  const page = { path: "docs/a.md", text: "# A\n\n```sh\n# Comment\n```\n\n### Push  \n\ntext\n" };
  assert.deepEqual(unknownSources([ROW], [page]), []);
  for (const source of ["docs/a.md, Comment", "docs/b.md, Push", "Push", "docs/a.md"]) {
    assert.match(unknownSources([{ ...ROW, source }], [page]).join(), /names no heading/, source);
  }
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
  assert.deepEqual(testNames('const quote = text.replace(/`/g, ""); Deno.test("behind it [a-b]", fn)'), [
    "behind it [a-b]",
  ]);
});

Deno.test("ids are the words with hyphens in the last brackets of a name", () => {
  assert.deepEqual(citedIds("one and another [push-type, wrap-next]"), ["push-type", "wrap-next"]);
  assert.deepEqual(citedIds("an array [0] and [none]"), []);
  assert.deepEqual(citedIds("in the middle [push-type] is no citation"), []);
});

Deno.test("a row with its test is not reported", () => {
  assert.deepEqual(breaches([ROW], [CITING], ["main"]), []);
});

Deno.test("an unknown id, a row without a test and an id that occurs twice are reported", () => {
  assert.match(breaches([], [CITING], ["main"]).join(), /a_test\.ts cites "push-type": no row has this id/);
  assert.match(breaches([ROW], [], ["main"]).join(), /"push-type" has no test \(docs\/a\.md, Push\)/);
  assert.match(breaches([ROW, ROW], [CITING], ["main"]).join(), /"push-type" occurs twice/);
});

Deno.test("a row of a capability not built yet, or with a reason, needs no test", () => {
  assert.deepEqual(breaches([{ ...ROW, by: "mirror" }], [], ["main"]), []);
  assert.deepEqual(breaches([{ ...ROW, untested: "only a person can see it" }], [], ["main"]), []);
  assert.match(breaches([{ ...ROW, untested: "no" }], [CITING], ["main"]).join(), /remove the reason/);
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
