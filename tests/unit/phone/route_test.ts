/** Routes and sign-in links in the address's fragment. */

import assert from "node:assert/strict";
import { formatRoute, parseRoute, parseSignInLink, readLink } from "../../../src/phone/route.ts";

Deno.test("a session's address survives a round trip, whatever its name", () => {
  assert.deepEqual(parseRoute(formatRoute({ view: "inbox" })), { view: "inbox" });
  for (const session of ["svc-demo", "svc-my.proj", "a b/c%", "日本"]) {
    const route = { view: "session", deviceId: "dev_listener_1", session } as const;
    assert.deepEqual(parseRoute(formatRoute(route)), route);
    const messages = { ...route, panel: "messages" } as const;
    assert.deepEqual(parseRoute(formatRoute(messages)), messages);
  }
});

Deno.test("a notification's button is part of the address [card-notified]", () => {
  const item = "6f1c2d3e-0000-4000-8000-000000000001";
  const session = {
    view: "session",
    deviceId: "dev_listener_1",
    session: "svc-demo",
    panel: "messages",
  } as const;
  for (const view of [session, { view: "inbox" } as const]) {
    for (const route of [{ ...view, item }, { ...view, item, option: 0 }, { ...view, item, option: 1 }]) {
      assert.deepEqual(parseRoute(formatRoute(route)), route);
    }
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

Deno.test("a link carries a pairing code or a key", () => {
  assert.deepEqual(parseSignInLink("#pair=abc-_1"), { kind: "pair", code: "abc-_1" });
  assert.deepEqual(parseSignInLink("#pair=abc&s=x-_1"), { kind: "pair", code: "abc", secret: "x-_1" });
  assert.deepEqual(parseSignInLink("#pair=abc&more=x"), { kind: "pair", code: "abc" });
  assert.deepEqual(parseSignInLink("#key=svc_k"), { kind: "key", key: "svc_k" });
  for (const fragment of ["", "#/", "#/s/a/b", "#pair="]) assert.equal(parseSignInLink(fragment), undefined);
});

Deno.test("a text is a pairing link only if it is this relay's and has a code [ux-scan]", () => {
  const page = "https://relay.example/svc/#/add-host";
  const link = { kind: "link", link: { kind: "pair", code: "abc", secret: "x" } };
  assert.deepEqual(readLink(" https://relay.example/svc/#pair=abc&s=x\n", page), link);
  assert.deepEqual(readLink("https://relay.example/#pair=abc", page), {
    kind: "other_relay",
    relay: "https://relay.example/",
  });
  for (
    const text of [
      "",
      "abc",
      "#pair=abc",
      "javascript:#pair=abc",
      `${page}`,
      "https://relay.example/svc/#key=svc_k",
    ]
  ) {
    assert.deepEqual(readLink(text, page), { kind: "none" });
  }
});
