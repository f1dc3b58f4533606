/** A text for several phones: each can read it, no other device can, and no part of it can be moved. */
import assert from "node:assert/strict";
import { decodeBase64url, encodeBase64url } from "../../../src/async/encodings.ts";
import { exportPublicKey, generateKeyPair } from "../../../src/crypto/keys.ts";
import { importSecret, newSecret } from "../../../src/crypto/paired_secret.ts";
import {
  type HostPushBinding,
  openForPhone,
  type PhoneKeys,
  sealForPhones,
} from "../../../src/crypto/host_push.ts";
import type { SealedForPhones } from "../../../src/protocol/push.ts";

const BOUND_TO: HostPushBinding = {
  id: "00000000-0000-4000-8000-000000000001",
  type: "agent.stop",
  agentSessionName: "svc-a",
  host: "dev_listener_a",
};
const TEXT = "Done: 12 tests pass.\n🙂";

interface Phone extends PhoneKeys {
  keyPair: CryptoKeyPair;
}

async function makePhone(deviceId: string): Promise<Phone> {
  const keyPair = await generateKeyPair();
  const secret = await importSecret(newSecret());
  assert.ok(secret);
  return { deviceId, keyPair, secret, publicKey: await exportPublicKey(keyPair.publicKey) };
}

function open(
  sealed: SealedForPhones,
  phone: Phone,
  boundTo: Partial<HostPushBinding> = {},
): Promise<string | undefined> {
  const { deviceId, keyPair, secret } = phone;
  return openForPhone(sealed, { boundTo: { ...BOUND_TO, ...boundTo }, phone: deviceId, keyPair, secret });
}

/** Returns the text with its last byte changed. */
function damaged(text: string): string {
  const bytes = decodeBase64url(text) ?? new Uint8Array();
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return encodeBase64url(bytes);
}

Deno.test("every phone that it was sealed for can open it, another phone cannot [seal-answers]", async () => {
  const [one, two, stranger] = await Promise.all(
    ["dev_phone_1", "dev_phone_2", "dev_phone_3"].map(makePhone),
  );
  assert.ok(one && two && stranger);
  const sealed = await sealForPhones(TEXT, { boundTo: BOUND_TO, phones: [one, two] });
  assert.deepEqual([await open(sealed, one), await open(sealed, two)], [TEXT, TEXT]);
  assert.equal(await open(sealed, stranger), undefined);
  assert.equal(await open(sealed, { ...stranger, deviceId: one.deviceId }), undefined);
  assert.equal(await open(sealed, { ...one, secret: two.secret }), undefined, "without the secret");
  assert.ok(!JSON.stringify(sealed).includes("Done"));
});

Deno.test("a text that was moved, changed or recombined cannot be opened [seal-answers]", async () => {
  const phone = await makePhone("dev_phone_1");
  const sealed = await sealForPhones(TEXT, { boundTo: BOUND_TO, phones: [phone] });
  const other = await sealForPhones("Stop: delete everything", { boundTo: BOUND_TO, phones: [phone] });
  const places: Partial<HostPushBinding>[] = [{ id: "x" }, { type: "note" }, { agentSessionName: "svc-b" }, {
    host: "dev_listener_b",
  }];
  for (const boundTo of places) {
    assert.equal(await open(sealed, phone, boundTo), undefined, JSON.stringify(boundTo));
  }
  const changes: Partial<SealedForPhones>[] = [
    { nonce: damaged(sealed.nonce) },
    { ciphertext: damaged(sealed.ciphertext) },
    { ciphertext: other.ciphertext },
    { ciphertext: other.ciphertext, nonce: other.nonce },
    { keys: other.keys },
    { keys: {} },
  ];
  for (const change of changes) assert.equal(await open({ ...sealed, ...change }, phone), undefined);
});

Deno.test("the key of one text cannot be used to replace it with another [seal-answers]", async () => {
  const phone = await makePhone("dev_phone_1");
  const sealed = await sealForPhones(TEXT, { boundTo: BOUND_TO, phones: [phone] });
  const longer = { ...sealed, ciphertext: encodeBase64url(new Uint8Array(64)) };
  assert.equal(await open(longer, phone), undefined);
  await assert.rejects(
    sealForPhones(TEXT, { boundTo: BOUND_TO, phones: [{ ...phone, publicKey: "AA" }] }),
    /Cannot seal for "dev_phone_1"/,
  );
});
