/** Converting between the relay's HTTP and WebSocket addresses. */

import assert from "node:assert/strict";
import { httpBaseFromWs, wsFromHttpBase } from "../../../src/client/addresses.ts";

Deno.test("the base of a WebSocket address keeps the path, except a final ws", () => {
  const pairs = [
    ["ws://127.0.0.1:7420/ws", "http://127.0.0.1:7420"],
    ["wss://relay.example/ws", "https://relay.example"],
    ["wss://relay.example/svc/ws/", "https://relay.example/svc"],
    ["wss://relay.example/stage", "https://relay.example/stage"],
    ["wss://relay.example", "https://relay.example"],
    ["wss://relay.example/news", "https://relay.example/news"],
    ["WSS://relay.example:8443/ws", "https://relay.example:8443"],
    ["ws://[::1]:7420/ws", "http://[::1]:7420"],
    ["https://relay.example/ws", "https://relay.example"],
  ];
  for (const [ws = "", base = ""] of pairs) assert.equal(httpBaseFromWs(ws), base);
});

Deno.test("the WebSocket address of a base is its path plus /ws", () => {
  assert.equal(wsFromHttpBase("http://127.0.0.1:7420/"), "ws://127.0.0.1:7420/ws");
  assert.equal(wsFromHttpBase("https://relay.example/svc"), "wss://relay.example/svc/ws");
});

Deno.test("an unsupported address is refused with the accepted forms", () => {
  for (const bad of ["", "relay.example", "ftp://relay.example", "ws://", "javascript:alert(1)"]) {
    assert.throws(() => httpBaseFromWs(bad), { name: "TypeError", message: /wss:\/\/host\/path/ });
  }
  assert.throws(() => wsFromHttpBase("ws://relay.example"), { message: /"ws:\/\/relay\.example".*http:/ });
});
