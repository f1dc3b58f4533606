/** The limits: their units, and the values that the specification fixes. */
import assert from "node:assert/strict";
import * as limits from "../../../src/protocol/limits.ts";

const UNITS =
  /(_BYTES|_CHARS|_SECONDS|_MS|_DAYS|_PER_MINUTE|_PER_SECOND|_PER_KEY|_MAX|_DEFAULT|_BURST|_DEPTH|_VERSION)$/;

Deno.test("every limit is a positive number with its unit in its name [style-limits]", () => {
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value !== "number") continue;
    assert.match(name, UNITS);
    assert.ok(value > 0 && Number.isSafeInteger(value), name);
  }
});

Deno.test("the limits that the specification fixes", () => {
  assert.equal(limits.INJECTIONS_PER_MINUTE, 30);
  assert.equal(limits.INVENTORY_POLL_MS, 5_000);
  assert.equal(limits.INVENTORY_HEARTBEAT_MS, 30_000);
  assert.equal(limits.ASK_TIMEOUT_MIN_SECONDS, 120);
  assert.equal(limits.ASK_TIMEOUT_MAX_SECONDS, 600);
});

Deno.test("the limits are consistent with one another", () => {
  assert.ok(limits.BODY_MAX_BYTES * 2 < limits.REQUEST_MAX_BYTES, "a body of escapes fits into a request");
  assert.ok(limits.REQUEST_MAX_BYTES < limits.TEXT_FRAME_MAX_BYTES, "a push fits into a frame");
  assert.ok(limits.TTL_MIN_SECONDS <= limits.TTL_DEFAULT_SECONDS);
  assert.ok(limits.TTL_DEFAULT_SECONDS <= limits.TTL_MAX_SECONDS);
  assert.ok(limits.TTL_MAX_SECONDS <= limits.PUSH_RETENTION_DAYS * 86_400, "no push outlives its retention");
  assert.ok(
    limits.PING_INTERVAL_MS * 2 <= limits.SILENCE_LIMIT_MS,
    "one lost ping does not end a connection",
  );
  assert.ok(limits.PAGE_LIMIT_DEFAULT <= limits.PAGE_LIMIT_MAX);
});
