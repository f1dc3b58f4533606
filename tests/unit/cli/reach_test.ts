/** Which address svc up prints for the phone. */
import assert from "node:assert/strict";
import { phoneAddress, reach } from "../../../src/cli/reach.ts";

const LAN = "192.168.1.5";

Deno.test("the link of a relay that listens on every address has one that the phone can open [up-addresses]", () => {
  const { link, lines } = reach({ url: "http://0.0.0.0:7420", publicUrl: undefined, lanAddress: LAN });
  assert.equal(link, `http://${LAN}:7420`);
  assert.match(lines.join("\n"), /^From the phone: http:\/\/192\.168\.1\.5:7420 \(plain http/m);
});

Deno.test("the link of a relay that listens only on this machine has localhost, and that of a public one its address [up-addresses]", () => {
  const here = reach({ url: "http://127.0.0.1:7420", publicUrl: undefined, lanAddress: LAN });
  assert.equal(here.link, "http://localhost:7420");
  assert.match(here.lines.join("\n"), /From the phone: not yet/);
  assert.match(here.lines.join("\n"), /^ +--listen 0\.0\.0\.0:7420 {10}the local network/m);
  const moved = reach({ url: "http://127.0.0.1:80", publicUrl: undefined, lanAddress: LAN });
  assert.match(moved.lines.join("\n"), /^ +--listen 0\.0\.0\.0:80 {12}the local network/m);
  const there = reach({ url: "http://127.0.0.1:7420", publicUrl: "https://relay.example", lanAddress: LAN });
  assert.equal(there.link, "https://relay.example");
  assert.match(there.lines.join("\n"), /relay\.example \(everything works\)/);
});

Deno.test("a pairing link has the given address, else the relay's public one if this machine reaches the relay on loopback [up-addresses]", () => {
  const local = "http://127.0.0.1:7420";
  const ofRelay = "https://relay.example";
  assert.equal(phoneAddress(local, { given: undefined, ofRelay }), "https://relay.example");
  assert.equal(phoneAddress(local, { given: "https://other.example/", ofRelay }), "https://other.example");
  assert.equal(phoneAddress(local, { given: undefined, ofRelay: undefined }), "http://localhost:7420");
  assert.equal(
    phoneAddress("https://reached.example", { given: undefined, ofRelay }),
    "https://reached.example",
    "known to work from another machine",
  );
  for (
    const given of [
      "relay.example",
      "https://a:b@relay.example",
      "https://relay.example/?",
      "https://relay.example/#x",
    ]
  ) {
    assert.throws(() => phoneAddress(local, { given, ofRelay }), /Cannot use the public address/, given);
  }
});
