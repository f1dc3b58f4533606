/** The version that the program reports. */
import assert from "node:assert/strict";
import config from "../../../deno.json" with { type: "json" };
import { VERSION } from "../../../src/protocol/version.ts";

Deno.test("the program reports the package's version", () => {
  assert.equal(VERSION, config.version);
});
