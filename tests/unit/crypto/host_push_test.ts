/** A text for several phones: each can read it, no other device can, and no part of it can be moved. */
import assert from "node:assert/strict";
import { decodeBase64url, encodeBase64url } from "../../../src/async/encodings.ts";
import { encodeFields } from "../../../src/crypto/hpke.ts";
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

/** Makes the sealing use this content key, which each phone gets, so that a test has it as a phone would. */
async function withContentKey<T>(contentKey: Uint8Array, seal: () => Promise<T>): Promise<T> {
  const random = crypto.getRandomValues;
  const known = <A extends ArrayBufferView | null>(array: A): A => {
    crypto.getRandomValues = random;
    (array as unknown as Uint8Array).set(contentKey);
    return array;
  };
  crypto.getRandomValues = known as typeof random;
  try {
    return await seal();
  } finally {
    crypto.getRandomValues = random;
  }
}

Deno.test("a phone cannot use the key of a text to replace it for another phone [seal-answers]", async () => {
  const phones = await Promise.all(["dev_phone_1", "dev_phone_2"].map(makePhone));
  const [curious, other] = phones;
  assert.ok(curious && other);
  const contentKey = new Uint8Array(32).fill(7);
  const seal = (text: string): Promise<SealedForPhones> =>
    withContentKey(contentKey, () => sealForPhones(text, { boundTo: BOUND_TO, phones }));
  const sealed = await seal(TEXT);
  // The same key, nonce and fields: only the binding of the other phone's key to the text differs.
  const key = await crypto.subtle.importKey("raw", contentKey, "AES-GCM", false, ["encrypt", "decrypt"]);
  const iv = decodeBase64url(sealed.nonce) ?? new Uint8Array();
  const { id, type, agentSessionName, host } = BOUND_TO;
  const params = { name: "AES-GCM", iv, additionalData: encodeFields([id, type, agentSessionName, host]) };
  const read = await crypto.subtle.decrypt(
    params,
    key,
    decodeBase64url(sealed.ciphertext) ?? new Uint8Array(),
  );
  assert.equal(new TextDecoder().decode(read), TEXT, "the key opens the text");
  const forged = await crypto.subtle.encrypt(params, key, new TextEncoder().encode("Delete everything."));
  const ciphertext = encodeBase64url(new Uint8Array(forged));
  for (const phone of phones) assert.equal(await open({ ...sealed, ciphertext }, phone), undefined);
  assert.equal(await open(sealed, other), TEXT);
});

Deno.test("a phone whose key is not a point of the curve is named, and nothing is sealed [seal-answers]", async () => {
  const phone = await makePhone("dev_phone_1");
  await assert.rejects(
    sealForPhones(TEXT, { boundTo: BOUND_TO, phones: [{ ...phone, publicKey: "AA" }] }),
    /Cannot seal for "dev_phone_1"/,
  );
});
