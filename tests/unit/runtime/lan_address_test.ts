/** Which of a machine's addresses another device on its network can reach. */
import assert from "node:assert/strict";
import { lanAddressAmong } from "../../../src/runtime/lan_address.ts";

Deno.test("the address for the phone is neither loopback nor a container's bridge [up-addresses]", () => {
  const loopback = { name: "lo", family: "IPv4", address: "127.0.0.1" };
  const bridge = { name: "docker0", family: "IPv4", address: "172.17.0.1" };
  const six = { name: "eth0", family: "IPv6", address: "fd00::2" };
  const four = { name: "eth0", family: "IPv4", address: "192.168.1.5" };
  assert.equal(lanAddressAmong([loopback, bridge, six, four]), "192.168.1.5");
  assert.equal(lanAddressAmong([loopback, bridge, six]), undefined);
});
