/** Proofs and check phrase of a pairing: equal for equal facts, different for any others. */
import assert from "node:assert/strict";
import { pbkdf2Sync } from "node:crypto";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { checkPhrase, PHRASE_WORDS } from "../../../src/crypto/check_phrase.ts";
import {
  deriveBytes,
  hostProof,
  importSecret,
  newSecret,
  phoneProof,
  type SecretUse,
} from "../../../src/crypto/paired_secret.ts";
import { secretKey } from "./secrets.ts";

const secret = await secretKey();
const other = await secretKey();
const HOST = { deviceId: "dev_listener_01234567", host: "desk", publicKey: "L" };
const PHONE = { code: "c", name: "iPhone", publicKey: "P" };
const DEVICES = {
  phone: { deviceId: "dev_phone_a", publicKey: "P" },
  listener: { deviceId: HOST.deviceId, publicKey: "L" },
};

/** Returns how many different proofs `make` gives for these facts. */
async function distinct<T>(make: (facts: T) => Promise<unknown>, facts: readonly T[]): Promise<number> {
  const made = await Promise.all(facts.map(async (one) => JSON.stringify(await make(one))));
  return new Set(made).size;
}

Deno.test("a proof holds for one secret and one set of facts [sec-active-relay]", async () => {
  const hosts = [HOST, { ...HOST, publicKey: "E" }, { ...HOST, host: "x" }, { ...HOST, deviceId: "dev_x" }];
  const phones = [PHONE, { ...PHONE, publicKey: "E" }, { ...PHONE, name: "x" }, { ...PHONE, code: "x" }];
  assert.equal(await distinct((facts) => hostProof(secret, facts), hosts), hosts.length);
  assert.equal(await distinct((facts) => phoneProof(secret, facts), phones), phones.length);
  assert.equal(await hostProof(secret, HOST), await hostProof(secret, { ...HOST }));
  assert.notEqual(await hostProof(other, HOST), await hostProof(secret, HOST));
  assert.notEqual(await phoneProof(other, PHONE), await phoneProof(secret, PHONE));
});

Deno.test("six words are the same on both sides, and different for another secret or any other key [pair-words]", async () => {
  const words = await checkPhrase(secret, DEVICES);
  assert.equal(words.length, PHRASE_WORDS);
  assert.ok(words.every((word) => /^[a-z]{3,8}$/.test(word)), words.join(" "));
  assert.deepEqual(await checkPhrase(secret, structuredClone(DEVICES)), words);
  const changes = [
    DEVICES,
    { ...DEVICES, phone: { ...DEVICES.phone, publicKey: "E" } },
    { ...DEVICES, phone: { ...DEVICES.phone, deviceId: "dev_phone_b" } },
    { ...DEVICES, listener: { ...DEVICES.listener, publicKey: "E" } },
    { ...DEVICES, listener: { ...DEVICES.listener, deviceId: "dev_listener_x" } },
  ];
  assert.equal(await distinct((facts) => checkPhrase(secret, facts), changes), changes.length);
  assert.notDeepEqual(await checkPhrase(other, DEVICES), words);
});

Deno.test("the six words take 200,000 rounds, so that two keys with the same words cannot be found in ten minutes [pair-words]", async () => {
  const ids = [DEVICES.phone, DEVICES.listener].flatMap(({ deviceId, publicKey }) => [deviceId, publicKey]);
  const first = await deriveBytes(secret, { use: "check phrase", context: JSON.stringify(ids) });
  const bytes = pbkdf2Sync(first, "", 200_000, 32, "sha256");
  let bits = BigInt(`0x${bytes.subarray(0, 9).toString("hex")}`);
  const words = Array.from({ length: PHRASE_WORDS }, () => {
    const word = wordlist[Number(bits % 2048n)];
    bits /= 2048n;
    return word;
  });
  assert.deepEqual(await checkPhrase(secret, DEVICES), words);
});

Deno.test("a secret has 256 bits, is different each time, and cannot be extracted from its key [pair-keys]", async () => {
  const words = Array.from({ length: 20 }, newSecret);
  assert.equal(new Set(words).size, 20);
  for (const word of words) assert.match(word, /^[A-Za-z0-9_-]{43}$/);
  for (const wrong of ["", "short", `${words[0]}AA`, "!".repeat(43)]) {
    assert.equal(await importSecret(wrong), undefined);
  }
  assert.equal(secret.extractable, false);
  await assert.rejects(crypto.subtle.exportKey("raw", secret));
});

Deno.test("each use of a secret derives different bytes", async () => {
  const uses: SecretUse[] = ["stream", "push", "phone proof", "listener proof", "check phrase"];
  assert.equal(await distinct(async (use) => [...await deriveBytes(secret, { use })], uses), uses.length);
  const word = newSecret();
  const [one, same] = [await secretKey(word), await secretKey(word)];
  assert.deepEqual(await deriveBytes(one, { use: "push" }), await deriveBytes(same, { use: "push" }));
});
