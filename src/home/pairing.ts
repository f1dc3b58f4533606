/** The host's side of a pairing: offered with a code, completed when a phone's claim is proven, revoked. */
import type { RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import { checkPhrase } from "../crypto/check_phrase.ts";
import { exportPublicKey } from "../crypto/keys.ts";
import { hostProof, importSecret, newSecret, phoneProof } from "../crypto/paired_secret.ts";
import type { PairingStatus } from "../protocol/http.ts";
import type { Files } from "../runtime/types.ts";
import {
  changePaired,
  ensureIdentity,
  loadIdentity,
  loadPaired,
  type PairedPhone,
  type PendingPairing,
  withPairedLock,
} from "./paired.ts";
import type { HomePaths } from "./paths.ts";

/** What a pairing needs from this machine and its relay. */
export interface PairingHost {
  files: Files;
  paths: HomePaths;
  api: Pick<RelayApi, "createPairing" | "pairingStatus">;
  /** The listener's device id. */
  deviceId: string;
  hostname: string;
  /** Epoch milliseconds. */
  now(): number;
}

/** `joined`: the phone got its API key, but its browser has no WebCrypto to pair with. `unproven`: its proof is wrong. */
export type PairingOutcome =
  | { kind: "open" }
  | { kind: "paired"; phone: PairedPhone; words: string[] }
  | { kind: "joined"; name: string }
  | { kind: "unproven"; name: string; deviceId: string }
  | { kind: "ended" };

export interface OfferedPairing extends PendingPairing {
  /** Where phones reach the relay, as it says. */
  publicUrl?: string | undefined;
}

/** Creates a code with a secret that the relay never sees. Throws RelayError. */
export async function offerPairing(host: PairingHost): Promise<OfferedPairing> {
  const { files, paths, deviceId, hostname } = host;
  const secret = newSecret();
  const identity = await withPairedLock(files, paths, () => ensureIdentity(files, paths));
  const offered = { deviceId, host: hostname, publicKey: await exportPublicKey(identity.publicKey) };
  const offer = { ...offered, proof: await hostProof(await keyOf(secret), offered) };
  const { code, expiresAt, publicUrl } = await host.api.createPairing({ offer });
  const pairing = { code, secret, expiresAt };
  await changePaired(files, paths, (file) => ({ ...file, pending: [...file.pending, pairing] }));
  return { ...pairing, publicUrl };
}

/** Asks the relay once who claimed the code, and stores a phone whose proof is right. Throws RelayError. */
export async function completePairing(host: PairingHost, pairing: PendingPairing): Promise<PairingOutcome> {
  const phone = await claimOf(host, pairing);
  if (phone === "open") return { kind: "open" };
  const outcome = phone === "ended" ? { kind: "ended" as const } : await judge(host, { pairing, phone });
  await changePaired(host.files, host.paths, (file) => {
    const rest = { ...file, pending: file.pending.filter(({ code }) => code !== pairing.code) };
    if (outcome.kind !== "paired") return rest;
    const others = file.phones.filter(({ deviceId }) => deviceId !== outcome.phone.deviceId);
    return { ...rest, phones: [...others, outcome.phone], floor: "psk" };
  });
  return outcome;
}

/**
 * Every phone that is paired now, the most recent one last, also by a claim that nobody was waiting for. When the relay
 * does not answer, pending pairings stay pending.
 */
export async function pairedPhones(host: PairingHost): Promise<PairedPhone[]> {
  await completePending(host);
  return (await loadPaired(host.files, host.paths)).phones;
}

/** Forgets the secret, also one that the phone has just claimed; false when there was none. */
export async function forgetPhone(host: PairingHost, deviceId: string): Promise<boolean> {
  await completePending(host);
  let found = false;
  await changePaired(host.files, host.paths, (file) => {
    const others = file.phones.filter((phone) => phone.deviceId !== deviceId);
    found = others.length < file.phones.length;
    return { ...file, phones: others };
  });
  return found;
}

async function completePending(host: PairingHost): Promise<void> {
  const { pending } = await loadPaired(host.files, host.paths);
  for (const pairing of pending) {
    try {
      await completePairing(host, pairing);
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
    }
  }
}

type Claim = NonNullable<PairingStatus["phone"]>;

async function claimOf(
  { api, now }: PairingHost,
  { code, expiresAt }: PendingPairing,
): Promise<Claim | "open" | "ended"> {
  try {
    const { phone } = await api.pairingStatus(code);
    return phone ?? (now() < expiresAt ? "open" : "ended");
  } catch (error) {
    if (error instanceof RelayError && error.code === "unknown_pairing") return "ended";
    throw error;
  }
}

async function judge(
  host: PairingHost,
  { pairing, phone }: { pairing: PendingPairing; phone: Claim },
): Promise<PairingOutcome> {
  const { deviceId, name, publicKey, proof } = phone;
  const identity = await loadIdentity(host.files, host.paths);
  if (publicKey === undefined || identity === undefined) return { kind: "joined", name };
  const secret = await keyOf(pairing.secret);
  if (proof !== await phoneProof(secret, { code: pairing.code, name, publicKey })) {
    return { kind: "unproven", name, deviceId };
  }
  const words = await checkPhrase(secret, {
    phone: { deviceId, publicKey },
    listener: { deviceId: host.deviceId, publicKey: await exportPublicKey(identity.publicKey) },
  });
  const paired = { deviceId, name, publicKey, secret: pairing.secret, pairedAt: host.now() };
  return { kind: "paired", phone: paired, words };
}

/** Throws when the text is not a secret of this program. */
async function keyOf(secret: string): Promise<CryptoKey> {
  const key = await importSecret(secret);
  if (key === undefined) {
    throw new Error("Cannot use the secret of the pairing: it is not 256 bits. Pair again.");
  }
  return key;
}
