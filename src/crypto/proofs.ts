/** Proofs that pass through the relay: each is made with the paired secret, which the relay never sees. */
import { encodeBase64url } from "../async/encodings.ts";
import type { PushState } from "../protocol/receipt.ts";
import { deriveBytes } from "./paired_secret.ts";

/** The host, as in the offer of a pairing code. */
export interface OfferedHost {
  deviceId: string;
  host: string;
  publicKey: string;
}

/** The phone, as in its claim of a pairing code. */
export interface ClaimingPhone {
  code: string;
  name: string;
  publicKey: string;
}

/** Shows the phone that the public key comes from a holder of the secret. */
export async function hostProof(
  secret: CryptoKey,
  { deviceId, host, publicKey }: OfferedHost,
): Promise<string> {
  const context = JSON.stringify([deviceId, host, publicKey]);
  return encodeBase64url(await deriveBytes(secret, { use: "listener proof", context }));
}

/** Shows the host that the public key comes from a holder of the secret. */
export async function phoneProof(
  secret: CryptoKey,
  { code, name, publicKey }: ClaimingPhone,
): Promise<string> {
  const context = JSON.stringify([code, name, publicKey]);
  return encodeBase64url(await deriveBytes(secret, { use: "phone proof", context }));
}

/** What became of a push: the host signs it, and the receipt repeats it. */
export interface ProvenReceipt {
  /** The id of the push. */
  id: string;
  state: PushState;
  reason?: string | undefined;
  final: boolean;
}

/** Shows the phone that the receipt comes from the host and not from the relay: 43 characters of base64url. */
export async function receiptProof(
  secret: CryptoKey,
  { id, state, reason = "", final }: ProvenReceipt,
): Promise<string> {
  const context = JSON.stringify([id, state, reason, final]);
  return encodeBase64url(await deriveBytes(secret, { use: "receipt", context }));
}
