/** The wire's error table and its RFC 9457 form. */
import assert from "node:assert/strict";
import { jsonPointer, problem, WIRE_ERRORS, type WireErrorCode } from "../../../src/protocol/errors.ts";

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
