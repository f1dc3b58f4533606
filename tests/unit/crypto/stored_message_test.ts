/** Stored messages: sealed for one device and one set of fields, and for nothing else. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeBase64url, encodeBase64url } from "../../../src/async/encodings.ts";
import { exportPublicKey, generateKeyPair } from "../../../src/crypto/keys.ts";
import { type MessageBinding, openMessage, sealMessage } from "../../../src/crypto/stored_message.ts";
import { BODY_MAX_BYTES } from "../../../src/protocol/limits.ts";
import { SealedBody } from "../../../src/protocol/push.ts";
import { secretKey } from "./secrets.ts";

const BOUND_TO: MessageBinding = {
  id: "00000000-0000-4000-8000-000000000001",
  type: "agent.command",
  from: "dev_phone_a",
  targetDeviceId: "dev_listener_01234567",
  agentSessionName: "svc-app",
  sendAnyway: false,
};
const keyPair = await generateKeyPair();
const publicKey = await exportPublicKey(keyPair.publicKey);
const secret = await secretKey();
const content = { body: "run the tests", notAfter: 1_800_000_000_000 };

/** Returns a base64url text with one byte changed. */
function flipped(word: string, index: number): string {
  const bytes = decodeBase64url(word) ?? new Uint8Array();
  const at = index % bytes.length;
  return encodeBase64url(bytes.with(at, (bytes[at] ?? 0) ^ 1));
}

Deno.test("any text is opened byte for byte, in psk and base mode, and is nowhere plain [seal-stored]", async () => {
  const body = fc.string({ unit: "binary", minLength: 1, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (text, isPaired) => {
      const own = isPaired ? { secret } : {};
      const sealed = await sealMessage({ ...content, body: text }, { boundTo: BOUND_TO, publicKey, ...own });
      assert.equal(sealed.mode, isPaired ? "psk" : "base");
      assert.deepEqual(await openMessage(sealed, { boundTo: BOUND_TO, keyPair, ...own }), {
        ...content,
        body: text,
      });
      if (text.length > 3) assert.ok(!JSON.stringify(sealed).includes(text));
    }),
    { numRuns: 40 },
  );
});

Deno.test("the longest body fits into the wire's limit for a sealed one", async () => {
  const longest = { ...content, body: "x".repeat(BODY_MAX_BYTES) };
  const sealed = await sealMessage(longest, { boundTo: BOUND_TO, publicKey, secret });
  assert.ok(SealedBody.safeParse(sealed).success);
  assert.deepEqual(await openMessage(sealed, { boundTo: BOUND_TO, keyPair, secret }), longest);
});

Deno.test("with any other id, type, sender, target, session or option it does not open [seal-stored]", async () => {
  const sealed = await sealMessage(content, { boundTo: BOUND_TO, publicKey, secret });
  const others: Partial<MessageBinding>[] = [
    { id: "00000000-0000-4000-8000-000000000002" },
    { type: "agent.start" },
    { from: "dev_phone_b" },
    { targetDeviceId: "dev_listener_76543210" },
    { agentSessionName: "svc-app-2" },
    { sendAnyway: true },
  ];
  const base = await sealMessage(content, { boundTo: BOUND_TO, publicKey });
  for (const other of others) {
    const boundTo = { ...BOUND_TO, ...other };
    assert.equal(await openMessage(sealed, { boundTo, keyPair, secret }), undefined);
    assert.equal(await openMessage(base, { boundTo, keyPair }), undefined);
  }
});

Deno.test("another key, another secret, none, or another mode does not open it [seal-psk]", async () => {
  const sealed = await sealMessage(content, { boundTo: BOUND_TO, publicKey, secret });
  const open = (options: { keyPair?: CryptoKeyPair; secret?: CryptoKey | undefined }, mode = sealed.mode) =>
    openMessage({ ...sealed, mode }, { boundTo: BOUND_TO, keyPair, secret, ...options });
  assert.deepEqual(await open({}), content);
  assert.equal(await open({ keyPair: await generateKeyPair() }), undefined);
  assert.equal(await open({ secret: await secretKey() }), undefined);
  assert.equal(await open({ secret: undefined }), undefined);
  assert.equal(await open({}, "base"), undefined);
});

Deno.test("every changed, removed or added byte is detected", async () => {
  const sealed = await sealMessage(content, { boundTo: BOUND_TO, publicKey, secret });
  const boundTo = fc.nat({ max: 500 });
  await fc.assert(
    fc.asyncProperty(boundTo, fc.constantFrom("enc", "ciphertext"), async (at, field) => {
      const word = sealed[field as "enc" | "ciphertext"];
      for (const changed of [flipped(word, at), word.slice(0, at % word.length), `${word}AAAA`]) {
        assert.equal(
          await openMessage({ ...sealed, [field]: changed }, { boundTo: BOUND_TO, keyPair, secret }),
          undefined,
        );
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("an invalid key is reported to the sender", async () => {
  for (const wrong of ["", "AAAA", publicKey.slice(0, -4), encodeBase64url(new Uint8Array(65).fill(4))]) {
    await assert.rejects(
      sealMessage(content, { boundTo: BOUND_TO, publicKey: wrong }),
      /not a point of P-256/,
    );
  }
});
