/** Who asks: stable per session and host, with a name that the relay accepts. */
import assert from "node:assert/strict";
import { identify } from "../../../src/mcp/ask_client.ts";
import { listenerDeviceId } from "../../../src/protocol/names.ts";
import { DeviceId } from "../../../src/protocol/push.ts";

Deno.test("each session of a host asks under an id of its own, always the same", async () => {
  const one = await identify({ hostname: "box", session: "svc-a" });
  assert.deepEqual(await identify({ hostname: "box", session: "svc-a" }), one);
  assert.equal(one.session, "svc-a");
  assert.equal(one.listener, await listenerDeviceId("box"));
  assert.ok(DeviceId.safeParse(one.deviceId).success);
  const others = [{ hostname: "box", session: "svc-b" }, { hostname: "tub", session: "svc-a" }, {
    hostname: "box",
    session: undefined,
  }];
  const ids = await Promise.all(others.map(async (place) => (await identify(place)).deviceId));
  assert.equal(new Set([one.deviceId, ...ids]).size, 4);
});

Deno.test("an invalid session name counts as none", async () => {
  for (const session of [undefined, "", "a b", "x".repeat(200)]) {
    assert.equal((await identify({ hostname: "box", session })).session, undefined);
  }
});
