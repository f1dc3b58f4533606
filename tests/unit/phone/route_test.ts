/** The address's fragment: where the page is, and what a link hands over. */

import assert from "node:assert/strict";
import { formatRoute, parseHandover, parseRoute } from "../../../src/phone/route.ts";

Deno.test("a session's address is read back as it was written, whatever its name", () => {
  assert.deepEqual(parseRoute(formatRoute({ view: "inbox" })), { view: "inbox" });
  for (const session of ["svc-demo", "svc-my.proj", "a b/c%", "日本"]) {
    const route = { view: "session", deviceId: "dev_listener_1", session } as const;
    assert.deepEqual(parseRoute(formatRoute(route)), route);
    const messages = { ...route, panel: "messages" } as const;
    assert.deepEqual(parseRoute(formatRoute(messages)), messages);
  }
});

Deno.test("anything else is the picker", () => {
  for (
    const fragment of [
      "",
      "#",
      "#/",
      "#/s/only",
      "#/s/a/%E0%A4%A",
      "#/x/a/b",
      "#/s/a/b/other",
      formatRoute({ view: "picker" }),
    ]
  ) {
    assert.deepEqual(parseRoute(fragment), { view: "picker" });
  }
});

Deno.test("a link hands over a pairing code or a key", () => {
  assert.deepEqual(parseHandover("#pair=abc-_1"), { kind: "pair", code: "abc-_1" });
  assert.deepEqual(parseHandover("#pair=abc&s=x-_1"), { kind: "pair", code: "abc", secret: "x-_1" });
  assert.deepEqual(parseHandover("#pair=abc&more=x"), { kind: "pair", code: "abc" });
  assert.deepEqual(parseHandover("#key=svc_k"), { kind: "key", key: "svc_k" });
  for (const fragment of ["", "#/", "#/s/a/b", "#pair="]) assert.equal(parseHandover(fragment), undefined);
});
