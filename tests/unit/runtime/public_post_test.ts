/** Posts to addresses named by clients: which are public, what is returned, and that names are checked when they are resolved. */
import assert from "node:assert/strict";
import {
  addressFault,
  ForbiddenAddress,
  isPublicAddress,
  lookupPublicly,
  postPublicly,
} from "../../../src/runtime/public_post.ts";
import { PushVendor } from "../../helpers/push_vendor.ts";

const POST = {
  headers: { ttl: "60" },
  body: new Uint8Array([1, 2, 3]),
  signal: new AbortController().signal,
};

Deno.test("only addresses of the public internet are public [push-ssrf]", () => {
  for (const address of ["8.8.8.8", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"]) {
    assert.ok(isPublicAddress(address), address);
  }
  const others = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.9.9.9",
    "169.254.169.254",
    "172.31.0.1",
    "192.168.1.1",
  ];
  const special = [
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
  ];
  const local = ["fe80::1", "fd00::1", "2001:db8::1", "2002:7f00:1::", "ff02::1", "push.example", ""];
  for (const address of [...others, ...special, ...local]) assert.ok(!isPublicAddress(address), address);
});

Deno.test("an address is https on the public internet, or, if a test allows it, http on this machine [push-ssrf]", () => {
  const fault = (url: string, allowLoopback = false): string | undefined =>
    addressFault(url, { allowLoopback });
  assert.equal(fault("https://fcm.googleapis.com/fcm/send/x"), undefined);
  assert.equal(fault("https://8.8.8.8/x"), undefined);
  for (
    const url of ["https://0x7f.1/", "https://017700000001/", "https://[fd00::1]/", "https://relay.internal/"]
  ) {
    assert.equal(fault(url), "an address of the public internet", url);
  }
  assert.equal(fault("http://127.0.0.1:80/"), "an https:// address");
  assert.equal(fault("http://127.0.0.1:80/", true), undefined);
  assert.equal(fault("http://10.0.0.1/", true), "an https:// address");
  assert.equal(fault("push.example/x"), "an https:// address");
});

Deno.test("a name is refused when one of its addresses is not public, and otherwise gives those that were checked [push-ssrf]", () => {
  const outcome = (all: boolean, ...addresses: string[]): unknown => {
    let found: unknown;
    const resolved = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const lookup = lookupPublicly((_name, _options, callback) => callback(null, resolved));
    lookup("push.example", { all }, (error, address) => void (found = error ?? address));
    return found;
  };
  const refused = [
    outcome(true, "127.0.0.1"),
    outcome(true, "8.8.8.8", "10.0.0.1"),
    outcome(false, "fd00::1"),
    outcome(false),
  ];
  for (const error of refused) {
    assert.ok(
      error instanceof Error && !(error instanceof ForbiddenAddress),
      "it may resolve to another later",
    );
  }
  assert.deepEqual(outcome(true, "8.8.8.8"), [{ address: "8.8.8.8", family: 4 }]);
  assert.equal(outcome(false, "8.8.8.8"), "8.8.8.8");
});

Deno.test("an address that is not public by itself is refused for good [push-ssrf]", async () => {
  for (const url of ["https://10.0.0.1/x", "https://router.local/x", "http://push.example/x", "push"]) {
    await assert.rejects(postPublicly({ ...POST, url, allowLoopback: false }), ForbiddenAddress, url);
  }
});

Deno.test("the answer's status and Retry-After are returned, and an abort ends the request [push-retry]", async () => {
  await using vendor = new PushVendor();
  const { subscription: { endpoint: url } } = await vendor.subscribe("x");
  vendor.answers.push({ status: 429, retryAfter: "17" });
  const post = { ...POST, url, allowLoopback: true };
  assert.deepEqual(await postPublicly(post), { status: 429, retryAfterSeconds: 17 });
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  vendor.answers.push({ status: 503, retryAfter: date });
  const { retryAfterSeconds = 0 } = await postPublicly(post);
  assert.ok(retryAfterSeconds > 3_000 && retryAfterSeconds <= 3_600, String(retryAfterSeconds));
  assert.deepEqual(await postPublicly(post), { status: 201, retryAfterSeconds: undefined });
  assert.deepEqual([...vendor.messages[0]?.body ?? []], [1, 2, 3]);
  await assert.rejects(postPublicly({ ...post, signal: AbortSignal.abort(new Error("stopped")) }), /stopped/);
});
