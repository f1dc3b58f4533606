/** What each side of a pairing shows the other through the relay: that its key comes from a holder of the secret. */
import { encodeBase64url } from "../async/base64url.ts";
import { deriveBytes } from "./paired_secret.ts";

/** The host as the code's offer names it. */
export interface OfferedHost {
  deviceId: string;
  host: string;
  publicKey: string;
}

/** The phone as its claim names it. */
export interface ClaimingPhone {
  code: string;
  name: string;
  publicKey: string;
}

export async function hostProof(
  secret: CryptoKey,
  { deviceId, host, publicKey }: OfferedHost,
): Promise<string> {
  const context = JSON.stringify([deviceId, host, publicKey]);
  return encodeBase64url(await deriveBytes(secret, { use: "listener proof", context }));
}

export async function phoneProof(
  secret: CryptoKey,
  { code, name, publicKey }: ClaimingPhone,
): Promise<string> {
  const context = JSON.stringify([code, name, publicKey]);
  return encodeBase64url(await deriveBytes(secret, { use: "phone proof", context }));
}
