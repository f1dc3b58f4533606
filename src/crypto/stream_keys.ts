/** The keys of one direction of a stream, agreed by HPKE and exported for its frames (RFC 9180, section 5.3). */
import { ENC_BYTES, SUITE } from "./suite.ts";

/** Bound into HPKE's info, or mixed into its key schedule: both sides must hold the same. */
export interface Agreement {
  info: Uint8Array;
  psk?: { id: Uint8Array; key: Uint8Array } | undefined;
}

const FRAME_KEY = { label: new TextEncoder().encode("svc.v1 frames"), bytes: 32 };

interface Exporter {
  export(context: Uint8Array, bytes: number): Promise<ArrayBuffer>;
}

/** The sender's side: `enc` goes to the receiver with the first frame. */
export async function sendingKey(
  recipientPublicKey: CryptoKey,
  { info, psk }: Agreement,
): Promise<{ enc: Uint8Array; key: CryptoKey }> {
  const context = await SUITE.createSenderContext({ recipientPublicKey, info, ...(psk ? { psk } : {}) });
  return { enc: new Uint8Array(context.enc), key: await frameKey(context, "encrypt") };
}

/** The receiver's side. Throws when `enc` is no encapsulated key. */
export async function receivingKey(
  recipientKey: CryptoKeyPair,
  { enc, info, psk }: Agreement & { enc: Uint8Array },
): Promise<CryptoKey> {
  if (enc.length !== ENC_BYTES) {
    throw new RangeError(`Cannot take an encapsulated key of ${enc.length} bytes`);
  }
  const context = await SUITE.createRecipientContext({ recipientKey, enc, info, ...(psk ? { psk } : {}) });
  return await frameKey(context, "decrypt");
}

async function frameKey(context: Exporter, use: "encrypt" | "decrypt"): Promise<CryptoKey> {
  const bytes = await context.export(FRAME_KEY.label, FRAME_KEY.bytes);
  return await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, [use]);
}
