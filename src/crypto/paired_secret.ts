/** The secret that host and phone share through the QR code: a key for each use, derived by HKDF, and proofs made with it that pass through the relay. */
import { decodeBase64url, encodeBase64url, encodeUtf8 } from "../async/encodings.ts";
import type { PushState } from "../protocol/receipt.ts";

/** 256 bits. */
const SECRET_BYTES = 32;

/** The uses of the secret: each derives different bytes. */
export type SecretUse =
  | "stream"
  | "push"
  | "told"
  | "phone proof"
  | "listener proof"
  | "check phrase"
  | "receipt"
  | "pairing id";

/** A new secret as text: 43 characters of base64url. */
export function newSecret(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
}

/** A key that is not extractable; undefined when the text is not a secret. */
export async function importSecret(text: string): Promise<CryptoKey | undefined> {
  const bytes = decodeBase64url(text);
  if (bytes?.length !== SECRET_BYTES) return undefined;
  return await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveBits"]);
}

/** 32 bytes for one use (RFC 5869, without salt, because the secret is uniform). */
export async function deriveBytes(
  secret: CryptoKey,
  { use, context = "" }: { use: SecretUse; context?: string },
): Promise<Uint8Array<ArrayBuffer>> {
  const info = encodeUtf8(JSON.stringify(["svc.v1", use, context]));
  const params = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return new Uint8Array(await crypto.subtle.deriveBits(params, secret, SECRET_BYTES * 8));
}

/** The pre-shared key of HPKE's psk mode; its id is the phone's device id. */
export async function pskOf(
  secret: CryptoKey,
  { use, phone }: { use: "stream" | "push" | "told"; phone: string },
): Promise<{ id: Uint8Array; key: Uint8Array }> {
  return { id: encodeUtf8(phone), key: await deriveBytes(secret, { use }) };
}

/** Identifies a pairing in files without revealing its secret: 22 characters of base64url. */
export async function pairingId(secret: CryptoKey): Promise<string> {
  return encodeBase64url((await deriveBytes(secret, { use: "pairing id" })).subarray(0, 16));
}

/** The host, as in the offer of a pairing code. */
interface OfferedHost {
  deviceId: string;
  host: string;
  publicKey: string;
}

/** The phone, as in its claim of a pairing code. */
interface ClaimingPhone {
  code: string;
  name: string;
  publicKey: string;
}

/** Returns a proof of these facts that only a holder of the secret can make: 43 characters of base64url. */
async function proofOf(
  secret: CryptoKey,
  { use, facts }: { use: "listener proof" | "phone proof" | "receipt"; facts: unknown[] },
): Promise<string> {
  return encodeBase64url(await deriveBytes(secret, { use, context: JSON.stringify(facts) }));
}

/** Proves to the phone that the public key comes from a holder of the secret. */
export function hostProof(secret: CryptoKey, { deviceId, host, publicKey }: OfferedHost): Promise<string> {
  return proofOf(secret, { use: "listener proof", facts: [deviceId, host, publicKey] });
}

/** Proves to the host that the public key comes from a holder of the secret. */
export function phoneProof(secret: CryptoKey, { code, name, publicKey }: ClaimingPhone): Promise<string> {
  return proofOf(secret, { use: "phone proof", facts: [code, name, publicKey] });
}

/** The outcome of a push: the host signs it, and the receipt repeats it. */
interface ProvenReceipt {
  /** The id of the push. */
  id: string;
  state: PushState;
  reason?: string | undefined;
  final: boolean;
  /** The session of a started agent, which the phone opens. */
  agentSessionName?: string | undefined;
}

/** States that the relay reports on its own, without the host's proof. */
export const RELAY_STATES: ReadonlySet<PushState> = new Set(["queued", "expired", "withdrawn", "unknown"]);

/** Proves to the phone that the receipt comes from the host and not from the relay. */
export function receiptProof(
  secret: CryptoKey,
  { id, state, reason = "", final, agentSessionName }: ProvenReceipt,
): Promise<string> {
  const started = agentSessionName === undefined ? [] : [agentSessionName];
  return proofOf(secret, { use: "receipt", facts: [id, state, reason, final, ...started] });
}
