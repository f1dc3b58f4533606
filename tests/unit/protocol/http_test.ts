/** Bodies of the routes other than pushes and sessions, with bad input. */
import assert from "node:assert/strict";
import { PairingClaim, Scope, SCOPES } from "../../../src/protocol/http.ts";
import { WebPushSubscription } from "../../../src/protocol/web_push.ts";

Deno.test("there are exactly three scopes", () => {
  assert.deepEqual([...SCOPES], ["push:send", "push:read", "admin"]);
  for (const word of ["", "push", "*", "ADMIN"]) assert.ok(!Scope.safeParse(word).success, word);
});

Deno.test("a phone's name is required and bounded", () => {
  assert.ok(PairingClaim.safeParse({ name: "x".repeat(200) }).success);
  for (const name of ["", "x".repeat(201), 7]) assert.ok(!PairingClaim.safeParse({ name }).success);
});

Deno.test("a Web Push endpoint is an https address", () => {
  const keys = { p256dh: "a", auth: "b" };
  assert.ok(WebPushSubscription.safeParse({ endpoint: "https://push.example/1", keys }).success);
  for (const endpoint of ["http://push.example", "file:///etc/passwd", `https://${"x".repeat(1_000)}`]) {
    assert.ok(!WebPushSubscription.safeParse({ endpoint, keys }).success, endpoint);
  }
});
