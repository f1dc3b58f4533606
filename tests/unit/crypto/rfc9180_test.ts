/** HPKE against the RFC's own vectors, byte for byte, from both sides. */
import assert from "node:assert/strict";
import { Aes128Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from "@hpke/core";
import { SUITE } from "../../../src/crypto/hpke.ts";

interface Vector {
  source: string;
  mode: "base" | "psk";
  aead: "AES-128-GCM" | "AES-256-GCM";
  info: string;
  skEm: string;
  ikmE?: string;
  skRm: string;
  pkRm: string;
  enc: string;
  psk?: string;
  pskId?: string;
  encryptions: { sequence: number; aad: string; pt: string; ct: string }[];
  exports: { context: string; value: string }[];
}

const FOLDER = new URL("../../testdata/rfc9180/", import.meta.url);
const vectors = [...Deno.readDirSync(FOLDER)].map(({ name }) =>
  JSON.parse(Deno.readTextFileSync(new URL(name, FOLDER))) as Vector
);
const bytes = (hex: string): Uint8Array<ArrayBuffer> => Uint8Array.fromHex(hex);
const hex = (buffer: ArrayBufferLike): string => new Uint8Array(buffer).toHex();

/** The RFC's appendix has this suite with AES-128-GCM; except for the AEAD it is the same object. */
const AES_128 = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes128Gcm(),
});

function suiteOf({ aead }: Vector): CipherSuite {
  return aead === "AES-256-GCM" ? SUITE : AES_128;
}

async function pair(suite: CipherSuite, secret: string): Promise<CryptoKeyPair> {
  const privateKey = await suite.kem.deserializePrivateKey(bytes(secret).buffer);
  const { d: _, key_ops: __, ...jwk } = await crypto.subtle.exportKey("jwk", privateKey);
  const publicKey = await suite.kem.importKey("jwk", jwk, true);
  return { privateKey, publicKey };
}

async function contexts(vector: Vector) {
  const suite = suiteOf(vector);
  const { psk, pskId } = vector;
  const common = {
    info: bytes(vector.info),
    ...(psk && pskId ? { psk: { key: bytes(psk), id: bytes(pskId) } } : {}),
  };
  const recipient = await pair(suite, vector.skRm);
  assert.equal(hex(await suite.kem.serializePublicKey(recipient.publicKey)), vector.pkRm);
  const sender = await suite.createSenderContext({
    ...common,
    recipientPublicKey: recipient.publicKey,
    ekm: await pair(suite, vector.skEm),
  });
  const receiver = await suite.createRecipientContext({
    ...common,
    recipientKey: recipient,
    enc: bytes(vector.enc),
  });
  return { sender, receiver };
}

for (const vector of vectors) {
  Deno.test(`what ${vector.source} seals is sealed and opened identically here, at each sequence [seal-vectors, other-hpke]`, async () => {
    const { sender, receiver } = await contexts(vector);
    assert.equal(hex(sender.enc), vector.enc);
    const last = vector.encryptions.at(-1)?.sequence ?? -1;
    for (let sequence = 0; sequence <= last; sequence++) {
      const known = vector.encryptions.find((one) => one.sequence === sequence);
      const plain = bytes(known?.pt ?? "");
      const aad = bytes(known?.aad ?? "");
      const sealed = await sender.seal(plain, aad);
      if (known) assert.equal(hex(sealed), known.ct, `sequence ${sequence}`);
      assert.equal(hex(await receiver.open(sealed, aad)), plain.toHex());
    }
  });

  Deno.test(`what ${vector.source} exports is exported identically here by both sides [seal-vectors, other-hpke]`, async () => {
    const { sender, receiver } = await contexts(vector);
    for (const { context, value } of vector.exports) {
      assert.equal(hex(await sender.export(bytes(context), 32)), value);
      assert.equal(hex(await receiver.export(bytes(context), 32)), value);
    }
  });

  if (vector.ikmE !== undefined) {
    const { ikmE } = vector;
    Deno.test(`the ephemeral key of ${vector.source} follows from its key material [seal-vectors]`, async () => {
      const { privateKey } = await suiteOf(vector).kem.deriveKeyPair(bytes(ikmE).buffer);
      assert.equal(hex(await suiteOf(vector).kem.serializePrivateKey(privateKey)), vector.skEm);
    });
  }
}

Deno.test("the suite is the one of the design, by the RFC's numbers [seal-suite]", () => {
  assert.deepEqual([SUITE.kem.id, SUITE.kdf.id, SUITE.aead.id], [0x0010, 0x0001, 0x0002]);
});
