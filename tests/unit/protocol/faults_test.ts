/** The descriptions of refused fields. */
import assert from "node:assert/strict";
import * as z from "zod/mini";
import { describeFaults, fieldFaults } from "../../../src/protocol/faults.ts";
import { FIELD_FAULTS_MAX } from "../../../src/protocol/limits.ts";

function faultOf(schema: z.ZodMiniType, value: unknown): string {
  const parsed = schema.safeParse(value);
  assert.ok(!parsed.success);
  return describeFaults(parsed.error);
}

Deno.test("a fault names the field and what it accepts [style-messages]", () => {
  assert.equal(faultOf(z.object({ a: z.object({ b: z.number() }) }), { a: {} }), "/a/b: must be a number");
  assert.equal(faultOf(z.int(), 1.5), "/: must be an integer");
  assert.equal(faultOf(z.enum(["x", "y"]), "z"), "/: one of x, y");
  assert.equal(faultOf(z.string().check(z.minLength(1)), ""), "/: at least 1 character");
  assert.equal(faultOf(z.array(z.string()).check(z.maxLength(2)), ["", "", ""]), "/: at most 2 entries");
  assert.equal(faultOf(z.number().check(z.minimum(10)), 9), "/: at least 10");
  assert.equal(faultOf(z.strictObject({}), { later: 1 }), "/: known keys only");
  assert.equal(faultOf(z.string().check(z.regex(/^a/, "an a first")), "b"), "/: an a first");
});

Deno.test("a fault never contains the value", () => {
  const schema = z.object({ key: z.enum(["a"]), id: z.int() });
  assert.ok(!faultOf(schema, { key: "svc_secret", id: "svc_secret" }).includes("svc_secret"));
});

Deno.test("an answer lists a bounded number of bad fields", () => {
  const parsed = z.array(z.number()).safeParse(Array.from({ length: 1_000 }, () => "x"));
  assert.ok(!parsed.success);
  assert.equal(fieldFaults(parsed.error).length, FIELD_FAULTS_MAX);
});
