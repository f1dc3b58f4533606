/** The addresses that a relay listens on. */
import assert from "node:assert/strict";
import { hostAndPort, parseListenAddress } from "../../../src/relay/server.ts";

Deno.test("addresses and ports are parsed, and printed as in a URL [con-free-port]", () => {
  for (const text of ["127.0.0.1:7420", "[::1]:0", "localhost:65535", "0.0.0.0:80"]) {
    assert.equal(hostAndPort(parseListenAddress(text)), text);
  }
  assert.equal(parseListenAddress("[::1]:1").hostname, "::1");
});

Deno.test("an invalid address is refused with a valid example", () => {
  for (
    const text of ["", "7420", ":7420", "127.0.0.1", "::1:7420", "127.0.0.1:65536", "http://x:1", "a b:1"]
  ) {
    assert.throws(() => parseListenAddress(text), /such as 127\.0\.0\.1:7420/, text);
  }
});
