/** The printed text of a caught value. */
import assert from "node:assert/strict";
import { errorText } from "../../../src/async/error_text.ts";

Deno.test("an error gives its message, any other value its text", () => {
  assert.equal(errorText(new TypeError("no such thing")), "no such thing");
  assert.equal(errorText("plain"), "plain");
  assert.equal(errorText(undefined), "undefined");
});
