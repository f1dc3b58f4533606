/** The phone's side of a pairing: claims the code, verifies the host's proof, and derives the words to compare. */
import type { Clock } from "../async/clock.ts";
import { sha256Hex } from "../async/encodings.ts";
import { retry } from "../async/retry.ts";
import { checkPhrase } from "../crypto/check_phrase.ts";
import { exportPublicKey } from "../crypto/keys.ts";
import { hostProof, importSecret, phoneProof } from "../crypto/paired_secret.ts";
import type { PairingClaim, PairingClaimed, PairingOffer } from "../protocol/http.ts";
import type { RelayApi } from "./api.ts";
import { DamagedLink, RELAY_BACKOFF, RelayError, UnprovenHost } from "./relay_error.ts";

/** A host that shares a secret with this phone. */
export interface PairedHost {
  /** The listener's device id. */
  deviceId: string;
  host: string;
  publicKey: string;
  /** Not extractable from WebCrypto. */
  secret: CryptoKey;
  /** This phone's device id at the time of pairing. Both sides bind their keys to it until the phone pairs again. */
  phone: string;
  /** The six check words, until the user has compared them with the host's. */
  unanswered?: readonly string[];
}

export interface Claimed {
  account: { apiKey: string; deviceId: string };
  /** Absent if no host offered the code, and on a page without WebCrypto. */
  paired?: { host: PairedHost; words: string[] };
}

interface PairingClaimOptions {
  code: string;
  /** From the link; undefined for a code that came without one. */
  secret: string | undefined;
  /** This phone's display name. */
  name: string;
  /** This phone's own key pair; undefined on a page without WebCrypto. */
  keyPair: CryptoKeyPair | undefined;
}

/** Attempts at a claim that gets no answer: about ten seconds without a network. */
const CLAIM_ATTEMPTS = 6;

interface PatientOptions {
  clock: Pick<Clock, "after">;
  /** Called before each retry. */
  again(): void;
}

/** Like `claimPairing`, but retries when no answer arrives: the relay repeats a lost answer to the same phone. */
export async function claimPatiently(
  api: Pick<RelayApi, "claimPairing">,
  options: PairingClaimOptions,
  { clock, again }: PatientOptions,
): Promise<Claimed> {
  let tries = 0;
  const isTransient = (error: unknown): boolean => {
    const mayWork = error instanceof RelayError && error.transient && ++tries < CLAIM_ATTEMPTS;
    if (mayWork) again();
    return mayWork;
  };
  return await retry(() => claimPairing(api, options), { isTransient, backoff: RELAY_BACKOFF, clock });
}

/**
 * Claims the code. Throws DamagedLink if the link's secret is incomplete, and claims nothing then, or if a host's link has
 * none; UnprovenHost if the relay's answer does not prove the secret; else RelayError.
 */
export async function claimPairing(
  api: Pick<RelayApi, "claimPairing">,
  { code, secret: text, name, keyPair }: PairingClaimOptions,
): Promise<Claimed> {
  const secret = text === undefined || keyPair === undefined ? undefined : await importSecret(text);
  if (text !== undefined && keyPair !== undefined && secret === undefined) {
    throw new DamagedLink("Cannot pair: the link is incomplete");
  }
  if (keyPair === undefined) {
    const { apiKey, deviceId } = await api.claimPairing(code, { name });
    return { account: { apiKey, deviceId } };
  }
  const claim = (claimed: PairingClaim): Promise<PairingClaimed> =>
    byDigest(code, (place) => api.claimPairing(place, { ...claimed, code }));
  if (secret === undefined) {
    const { apiKey, deviceId, offer } = await claim({ name });
    // A host's link has a secret: without it, what this phone sends would not be encrypted.
    if (offer !== undefined) throw new DamagedLink("Cannot pair: the link has lost its secret");
    return { account: { apiKey, deviceId } };
  }
  const publicKey = await exportPublicKey(keyPair.publicKey);
  const proof = await phoneProof(secret, { code, name, publicKey });
  const { apiKey, deviceId, offer } = await claim({ name, publicKey, proof });
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

/**
 * Asks for a pairing by its code's digest: proxies log paths, also while the relay behind them is down and the code can
 * still be claimed. Asks an older relay, which knows only codes, by the code itself.
 */
export async function byDigest<T>(code: string, ask: (name: string) => Promise<T>): Promise<T> {
  try {
    return await ask(`sha256-${await sha256Hex(code)}`);
  } catch (error) {
    if (error instanceof RelayError && error.code === "unknown_pairing") return await ask(code);
    throw error;
  }
}

async function provenOffer(secret: CryptoKey, offer: PairingOffer | undefined): Promise<PairingOffer> {
  if (offer !== undefined && offer.proof === await hostProof(secret, offer)) return offer;
  throw new UnprovenHost(
    "Cannot pair: the relay's answer does not prove that it comes from the host that showed this code",
  );
}
