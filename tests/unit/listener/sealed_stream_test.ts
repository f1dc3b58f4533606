/** Which streams a host grants: by what the phone asks for, what they share, and what the host demands. */
import assert from "node:assert/strict";
import { importSecret, newSecret } from "../../../src/crypto/paired_secret.ts";
import { beginStream } from "../../../src/crypto/stream.ts";
import { grantStream } from "../../../src/listener/sealed_stream.ts";

const PARTIES = { phone: "dev_phone_a", listener: "dev_listener_01234567", agentSessionName: "svc-a" };
const secret = await importSecret(newSecret());
const keys = {
  deviceId: PARTIES.listener,
  secretOf: (phone: string) => Promise.resolve(phone === PARTIES.phone ? secret : undefined),
};
const plain = { stream: 1, agentSessionName: PARTIES.agentSessionName };

async function asked(own: CryptoKey | undefined) {
  const began = await beginStream(PARTIES, { secret: own });
  return { began, open: { ...plain, from: PARTIES.phone, ...began.hello } };
}

Deno.test("a stream is as sealed as the phone asks for, and works on both sides [seal-off, seal-base, seal-psk, enc-public-key]", async () => {
  const off = await grantStream(plain, { keys, floor: "off" });
  assert.ok("channel" in off && off.channel.mode === "off" && off.hello === undefined);
  for (const own of [undefined, secret]) {
    const { began, open } = await asked(own);
    const granted = await grantStream(open, { keys, floor: "off" });
    assert.ok("channel" in granted && granted.hello);
    const phone = await began.finish(granted.hello);
    const payload = await granted.channel.sealer.seal(new Uint8Array([1, 2]));
    const opened = await phone?.opener.open(payload ?? new Uint8Array());
    assert.deepEqual([phone?.mode, opened?.kind], [own ? "psk" : "base", "frame"]);
  }
});

Deno.test("below the host's floor a stream is refused with the reason [seal-floor]", async () => {
  const base = (await asked(undefined)).open;
  assert.deepEqual(await grantStream(plain, { keys, floor: "base" }), { refused: "sealed_required" });
  assert.deepEqual(await grantStream(base, { keys, floor: "psk" }), { refused: "sealed_required" });
  assert.ok("channel" in await grantStream(base, { keys, floor: "base" }));
  assert.ok("channel" in await grantStream((await asked(secret)).open, { keys, floor: "psk" }));
});

Deno.test("psk mode without a shared secret, and a key that is none, are unsealable", async () => {
  const { open } = await asked(secret);
  for (const change of [{ from: "dev_phone_b" }, { from: undefined }, { publicKey: "AAAA" }]) {
    assert.deepEqual(await grantStream({ ...open, ...change }, { keys, floor: "off" }), {
      refused: "unsealable",
    });
  }
});
