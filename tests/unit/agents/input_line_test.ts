/** The text in an input line without a frame. */
import assert from "node:assert/strict";
import { draftAfter } from "../../../src/agents/input_line.ts";

const LINE = { prompt: /^([>!]) ?/, end: /^status/, placeholder: /^Ask/ };

Deno.test("the text runs from the last prompt to the status [inj-desk-draft]", () => {
  assert.equal(
    draftAfter(["> said", "> one", "", "  three ", "status"], LINE),
    "one\n\nthree",
  );
  assert.equal(draftAfter(["> one", "two"], LINE), "one\ntwo");
});

Deno.test("a hint is empty, a shell's line never is, and no prompt is no line [inj-desk-draft]", () => {
  assert.equal(draftAfter(["> Ask me", "status"], LINE), "");
  assert.equal(draftAfter(["! Ask me", "status"], LINE), "!");
  assert.equal(draftAfter(["! ls", "status"], LINE), "!ls");
  assert.equal(draftAfter(["text", "status"], LINE), undefined);
});
