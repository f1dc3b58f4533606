/** CRC-32. */
import assert from "node:assert/strict";
import { checksum } from "../../../src/home/checksum.ts";

Deno.test("the check values of ISO 3309", () => {
  assert.equal(checksum("123456789"), "cbf43926");
  assert.equal(checksum(""), "00000000");
  assert.equal(checksum("ü"), checksum("\u00fc"));
  assert.notEqual(checksum("ab"), checksum("ba"));
});
