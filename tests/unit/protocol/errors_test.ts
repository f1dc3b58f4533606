/** The wire's error table, its RFC 9457 form, and the descriptions of rejected fields. */
import assert from "node:assert/strict";
import * as z from "zod/mini";
import {
  describeFaults,
  fieldFaults,
  jsonPointer,
  problem,
  WIRE_ERRORS,
  type WireErrorCode,
} from "../../../src/protocol/errors.ts";
import { FIELD_FAULTS_MAX } from "../../../src/protocol/limits.ts";

Deno.test("each error has a stable code, an error status and a title [style-wire-table]", () => {
  for (const [code, { status, title }] of Object.entries(WIRE_ERRORS)) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/);
    assert.ok(status >= 400 && status < 600, code);
    assert.match(title, /^[A-Z].*[a-z]$/, code);
  }
});

Deno.test("the codes that clients handle keep their status [style-wire-table]", () => {
  const expected: Partial<Record<WireErrorCode, number>> = {
    invalid_push: 400,
    unauthenticated: 401,
    missing_scope: 403,
    unknown_device: 404,
    unknown_push: 404,
    id_reused: 409,
    too_large: 413,
    unsupported_media_type: 415,
    rate_limited: 429,
    store_unavailable: 503,
  };
  for (const [code, status] of Object.entries(expected)) {
    assert.equal(WIRE_ERRORS[code as WireErrorCode].status, status, code);
  }
});

Deno.test("a problem has the members of RFC 9457 and a code [other-problem]", () => {
  assert.deepEqual(problem("rate_limited", "Wait 3 seconds."), {
    type: "urn:svc:error:rate_limited",
    title: "Too many requests",
    status: 429,
    code: "rate_limited",
    detail: "Wait 3 seconds.",
  });
  assert.deepEqual(Object.keys(problem("not_found")), ["type", "title", "status", "code"]);
  assert.deepEqual(problem("invalid_push", "x", [{ pointer: "/body", detail: "y" }]).errors, [
    { pointer: "/body", detail: "y" },
  ]);
});

Deno.test("pointers escape ~ and / as RFC 6901 requires", () => {
  assert.equal(jsonPointer([]), "");
  assert.equal(jsonPointer(["data", "a/b", "m~n", 0]), "/data/a~1b/m~0n/0");
});

function faultOf(schema: z.ZodMiniType, value: unknown): string {
  const parsed = schema.safeParse(value);
  assert.ok(!parsed.success);
  return describeFaults(parsed.error);
}

Deno.test("an error names the field and what it accepts [style-messages]", () => {
  assert.equal(faultOf(z.object({ a: z.object({ b: z.number() }) }), { a: {} }), "/a/b: must be a number");
  assert.equal(faultOf(z.int(), 1.5), "/: must be an integer");
  assert.equal(faultOf(z.enum(["x", "y"]), "z"), "/: one of x, y");
  assert.equal(faultOf(z.string().check(z.minLength(1)), ""), "/: at least 1 character");
  assert.equal(faultOf(z.array(z.string()).check(z.maxLength(2)), ["", "", ""]), "/: at most 2 entries");
  assert.equal(faultOf(z.number().check(z.minimum(10)), 9), "/: at least 10");
  assert.equal(faultOf(z.strictObject({}), { later: 1 }), "/: known keys only");
  assert.equal(faultOf(z.string().check(z.regex(/^a/, "an a first")), "b"), "/: an a first");
});

Deno.test("an error never contains the value", () => {
  const schema = z.object({ key: z.enum(["a"]), id: z.int() });
  assert.ok(!faultOf(schema, { key: "svc_secret", id: "svc_secret" }).includes("svc_secret"));
});

Deno.test("an answer lists a bounded number of bad fields", () => {
  const parsed = z.array(z.number()).safeParse(Array.from({ length: 1_000 }, () => "x"));
  assert.ok(!parsed.success);
  assert.equal(fieldFaults(parsed.error).length, FIELD_FAULTS_MAX);
});
