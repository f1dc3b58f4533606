/** The phone's side of a pairing: claims the code, holds the host to its proof, and derives the words to compare. */
import type { RelayApi } from "./api.ts";
import { checkPhrase } from "../crypto/check_phrase.ts";
import { exportPublicKey } from "../crypto/keys.ts";
import { importSecret } from "../crypto/paired_secret.ts";
import { hostProof, phoneProof } from "../crypto/pairing_proof.ts";
import type { PairingOffer } from "../protocol/http.ts";

/** A host that shares a secret with this phone. */
export interface PairedHost {
  /** The listener's device id. */
  deviceId: string;
  host: string;
  publicKey: string;
  /** WebCrypto does not give it out again. */
  secret: CryptoKey;
  /** What this phone was called then, and is for this host until it pairs again: both sides bind their keys to it. */
  phone: string;
  /** The six words, until the person has answered whether the host shows the same. */
  unanswered?: readonly string[];
}

export interface Claimed {
  account: { apiKey: string; deviceId: string };
  /** Absent for a code without a host's offer, and on a page without cryptography. */
  paired?: { host: PairedHost; words: string[] };
}

/** The host's key does not come from who showed the QR code: the relay lies, or the link was made up. */
export class UnprovenHost extends Error {
  override name = "UnprovenHost";
}

export interface PairingClaimOptions {
  code: string;
  /** Of the link; undefined on a page without cryptography, and for a code that came without one. */
  secret: string | undefined;
  /** How this phone calls itself. */
  name: string;
  /** This phone's own key pair; undefined on a page without cryptography. */
  keyPair: CryptoKeyPair | undefined;
}

/** Throws RelayError, and UnprovenHost when the link has a secret and the relay's answer does not prove it. */
export async function claimPairing(
  api: Pick<RelayApi, "claimPairing">,
  { code, secret: word, name, keyPair }: PairingClaimOptions,
): Promise<Claimed> {
  const secret = word === undefined || keyPair === undefined ? undefined : await importSecret(word);
  if (secret === undefined || keyPair === undefined) {
    const { apiKey, deviceId } = await api.claimPairing(code, { name });
    return { account: { apiKey, deviceId } };
  }
  const publicKey = await exportPublicKey(keyPair.publicKey);
  const proof = await phoneProof(secret, { code, name, publicKey });
  const { apiKey, deviceId, offer } = await api.claimPairing(code, { name, publicKey, proof });
  const proven = await provenOffer(secret, offer);
  const words = await checkPhrase(secret, { phone: { deviceId, publicKey }, listener: proven });
  const host: PairedHost = {
    deviceId: proven.deviceId,
    host: proven.host,
    publicKey: proven.publicKey,
    secret,
    phone: deviceId,
  };
  return { account: { apiKey, deviceId }, paired: { host, words } };
}

async function provenOffer(secret: CryptoKey, offer: PairingOffer | undefined): Promise<PairingOffer> {
  if (offer !== undefined && offer.proof === await hostProof(secret, offer)) return offer;
  throw new UnprovenHost(
    "Cannot pair: the relay's answer does not prove that it comes from the host of this code",
  );
}
