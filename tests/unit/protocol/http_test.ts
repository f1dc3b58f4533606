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

Deno.test("a Web Push subscription has 16 KiB, which preferences for 200 sessions fit into", () => {
  const subscription = (name: string) => {
    const entries = Array.from(
      { length: 200 },
      (_, n) => [`dev_listener_0a1b2c3d/svc-${name}-${n}`, ["agent.stop"]],
    );
    const keys = { p256dh: "a".repeat(87), auth: "b".repeat(22) };
    const preferences = { off: ["note"], sessions: Object.fromEntries(entries) };
    return { endpoint: `https://push.example/${"x".repeat(180)}`, keys, preferences };
  };
  assert.ok(WebPushSubscription.safeParse(subscription("project")).success);
  const { error } = WebPushSubscription.safeParse(subscription("project".repeat(16)));
  assert.deepEqual(error?.issues.map(({ message }) => message), ["at most 16384 bytes as JSON"]);
});
