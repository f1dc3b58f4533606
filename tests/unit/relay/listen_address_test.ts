/** Addresses to listen on. */
import assert from "node:assert/strict";
import { hostAndPort, parseListenAddress } from "../../../src/relay/listen_address.ts";

Deno.test("addresses and ports are read, and printed as a URL has them [con-free-port]", () => {
  for (const text of ["127.0.0.1:7420", "[::1]:0", "localhost:65535", "0.0.0.0:80"]) {
    assert.equal(hostAndPort(parseListenAddress(text)), text);
  }
  assert.equal(parseListenAddress("[::1]:1").hostname, "::1");
});

Deno.test("what is no address is refused with one that would do", () => {
  for (
    const text of ["", "7420", ":7420", "127.0.0.1", "::1:7420", "127.0.0.1:65536", "http://x:1", "a b:1"]
  ) {
    assert.throws(() => parseListenAddress(text), /such as 127\.0\.0\.1:7420/, text);
  }
});
