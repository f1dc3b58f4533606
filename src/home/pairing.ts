/** This host's identity and pairings: its key pair, `paired.json`, and how a phone is paired, step by step. */
import { runtime } from "#runtime";
import { errorText } from "../async/error_text.ts";
import type { RelayApi } from "../client/api.ts";
import { byDigest } from "../client/claim_pairing.ts";
import { RelayError } from "../client/relay_error.ts";
import { checkPhrase } from "../crypto/check_phrase.ts";
import { exportKeyPair, exportPublicKey, generateKeyPair, importKeyPair } from "../crypto/keys.ts";
import { hostProof, importSecret, newSecret, phoneProof } from "../crypto/paired_secret.ts";
import { PAIRING_TTL_SECONDS, SKEW_MS } from "../protocol/limits.ts";
import type { PairingStatus } from "../protocol/http.ts";
import type { Files } from "../runtime/types.ts";
import type { HomePaths } from "./paths.ts";
import { makeHome } from "./permissions.ts";
import * as z from "zod/mini";
import type { Sealing } from "../crypto/mode.ts";
import { describeFaults } from "../protocol/errors.ts";
import { parseJson } from "../protocol/json.ts";
import { listenerDeviceId } from "../protocol/names.ts";
import { type Config, deviceNameOf } from "./config.ts";
import { keepAside, moveAside, readStateText } from "./damage.ts";
import { withLock } from "./lock.ts";

/** A private key of P-256 as a JSON Web Key (RFC 7518, section 6.2). */
const Identity = z.looseObject({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: z.string(),
  y: z.string(),
  d: z.string(),
});

/** The listener's key pair; undefined before it was created. Throws when the file does not contain a key. */
export async function loadIdentity(
  files: Pick<Files, "readText">,
  { identity }: Pick<HomePaths, "identity">,
): Promise<CryptoKeyPair | undefined> {
  const text = await readStateText(files, identity);
  if (text === undefined) return undefined;
  const { kty, crv, x, y, d } = Identity.safeParse(parseJson(text)?.value).data ?? {};
  try {
    return await importKeyPair({ kty, crv, x, y, d } as JsonWebKey);
  } catch (error) {
    const remedy = "Remove it and pair every phone again.";
    throw new Error(`Cannot use the key in "${identity}": it is not a P-256 key. ${remedy}`, {
      cause: error,
    });
  }
}

/** Returns the key pair, created on the first call. The caller holds the lock: two processes would create two. */
export async function ensureIdentity(files: Files, paths: HomePaths): Promise<CryptoKeyPair> {
  const known = await loadIdentity(files, paths);
  if (known !== undefined) return known;
  const made = await generateKeyPair({ extractable: true });
  const text = `${JSON.stringify(await exportKeyPair(made))}\n`;
  await files.replaceText(paths.identity, text, { mode: 0o600 });
  return made;
}

export interface HostIdentity {
  name: string;
  deviceId: string;
  /** Undefined if the identity file cannot be used, which pairing reports. */
  publicKey: string | undefined;
}

interface HostIdentityOptions {
  paths: HomePaths;
  config: Config;
  log(line: string): void;
}

/** Returns this host as its relay sees it. */
export async function readIdentity(options: HostIdentityOptions): Promise<HostIdentity> {
  const name = deviceNameOf(options.config, runtime.hostname());
  return { name, deviceId: await listenerDeviceId(name), publicKey: await publicIdentity(options) };
}

async function publicIdentity({ paths, log }: HostIdentityOptions): Promise<string | undefined> {
  const { files } = runtime;
  try {
    const identity = await withPairedLock(files, paths, () => ensureIdentity(files, paths));
    return await exportPublicKey(identity.publicKey);
  } catch (error) {
    log(`identity: not sent to the relay: ${errorText(error)}`);
    return undefined;
  }
}

/** A phone that shares a secret with this host. */
export const PairedPhone = z.object({
  deviceId: z.string(),
  name: z.string(),
  publicKey: z.string(),
  /** base64url of 256 bits. */
  secret: z.string(),
  /** Epoch milliseconds. */
  pairedAt: z.number(),
  /** A script: it only sends, and nothing is encrypted for it. */
  script: z.optional(z.literal(true)),
});
export type PairedPhone = z.infer<typeof PairedPhone>;

/** A code and its secret, shown as a QR code and not yet known to be claimed. */
export const PendingPairing = z.object({
  code: z.string(),
  secret: z.string(),
  expiresAt: z.number(),
  /** Offered to a script. */
  script: z.optional(z.literal(true)),
});
export type PendingPairing = z.infer<typeof PendingPairing>;

/** The secret for `svc send` on this host itself; `counter` is the last one used. */
const OwnSecret = z.object({ secret: z.string(), counter: z.number() });

const PairedFile = z.object({
  phones: z.array(PairedPhone),
  pending: z.array(PendingPairing),
  /** Set by the first pairing and kept when the last phone is revoked, so that a relay gains nothing by waiting for that. */
  floor: z.optional(z.literal("psk")),
  own: z.optional(OwnSecret),
});
export type PairedFile = z.infer<typeof PairedFile>;

/** Beyond this many, the oldest is dropped. */
const PENDING_MAX = 20;

/** The file exists but cannot be used. */
class DamagedPairings extends Error {
  override name = "DamagedPairings";
}

/** Throws when the file is invalid: continuing would forget its phones. */
export async function loadPaired(
  files: Pick<Files, "readText">,
  { paired }: Pick<HomePaths, "paired">,
): Promise<PairedFile> {
  const text = await readStateText(files, paired);
  if (text === undefined) return { phones: [], pending: [] };
  const parsed = PairedFile.safeParse(parseJson(text)?.value);
  if (parsed.success) return parsed.data;
  const why = describeFaults(parsed.error);
  throw new DamagedPairings(
    `Cannot read the paired phones in "${paired}": ${why}. Set it aside and pair again with: svc pair`,
  );
}

/**
 * Sets a damaged file aside, so that phones can be paired again; returns where it is kept, or undefined if the file can
 * be read. Unsealed messages stay refused, because phones have been paired. Throws PairingsBusy.
 */
export async function setDamagedAside(files: Files, paths: HomePaths): Promise<string | undefined> {
  return await withPairedLock(files, paths, async () => {
    try {
      await loadPaired(files, paths);
      return undefined;
    } catch (error) {
      if (!(error instanceof DamagedPairings)) throw error;
    }
    const { paired: path } = paths;
    const isFile = (await files.info(path))?.isFile === true;
    const aside = isFile
      ? await keepAside(files, { path, text: await readStateText(files, path) ?? "" })
      : await moveAside(files, path);
    await storePaired(files, paths, { phones: [], pending: [], floor: "psk" });
    return aside;
  });
}

async function storePaired(files: Files, { paired }: HomePaths, file: PairedFile): Promise<void> {
  await files.replaceText(paired, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
}

/** Edits the file; one process at a time. */
export async function changePaired(
  files: Files,
  paths: HomePaths,
  edit: (file: PairedFile) => PairedFile,
): Promise<PairedFile> {
  return await withPairedLock(files, paths, async () => {
    const edited = edit(await loadPaired(files, paths));
    const changed = { ...edited, pending: edited.pending.slice(-PENDING_MAX) };
    await storePaired(files, paths, changed);
    return changed;
  });
}

/** The weakest encryption mode that this host accepts: as configured, else `psk` from the first pairing on. */
export function sealingFloor(
  { phones, floor }: PairedFile,
  { requireEncryption }: Pick<Config, "requireEncryption">,
): Sealing {
  return requireEncryption ?? floor ?? (phones.length > 0 ? "psk" : "off");
}

/** Another process has been changing the pairings for too long; a later try may succeed. */
export class PairingsBusy extends Error {
  override name = "PairingsBusy";
}

/** Runs `work` while no other process changes the pairings or the key pair. Throws PairingsBusy after waiting for 5 s. */
export async function withPairedLock<T>(
  files: Files,
  paths: HomePaths,
  work: () => Promise<T>,
): Promise<T> {
  await makeHome(files, paths);
  const busy = (): Error =>
    new PairingsBusy(`Cannot change the pairings: another svc holds "${paths.pairedLock}". Try again.`);
  return await withLock(files, paths.pairedLock, { busy, work });
}

/** This machine and its relay, as a pairing uses them. */
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
  /** The address at which phones reach the relay, as the relay reports it. */
  publicUrl?: string | undefined;
}

/** Creates a code with a secret that the relay never sees. Throws RelayError. */
export async function offerPairing(
  host: PairingHost,
  { script }: Pick<PendingPairing, "script"> = {},
): Promise<OfferedPairing> {
  const { files, paths, deviceId, hostname } = host;
  const secret = newSecret();
  const identity = await withPairedLock(files, paths, () => ensureIdentity(files, paths));
  const offered = { deviceId, host: hostname, publicKey: await exportPublicKey(identity.publicKey) };
  const offer = { ...offered, proof: await hostProof(await keyOf(secret), offered) };
  const { code, publicUrl, ...created } = await host.api.createPairing({ offer });
  const expiresAt = Math.min(created.expiresAt, host.now() + PAIRING_TTL_SECONDS * 1_000 + SKEW_MS);
  const pairing = { code, secret, expiresAt, ...(script && { script }) };
  await changePaired(files, paths, (file) => ({ ...file, pending: [...file.pending, pairing] }));
  return { ...pairing, publicUrl };
}

/** Forgets a code, and who has claimed it. */
export async function withdrawPairing(
  { files, paths }: Pick<PairingHost, "files" | "paths">,
  { code, secret }: PendingPairing,
): Promise<void> {
  await changePaired(files, paths, (file) => ({
    ...file,
    phones: file.phones.filter((phone) => phone.secret !== secret),
    pending: file.pending.filter((pending) => pending.code !== code),
  }));
}

/** Asks the relay once who claimed the code, and stores a phone whose proof is valid. Throws RelayError. */
export async function completePairing(host: PairingHost, pairing: PendingPairing): Promise<PairingOutcome> {
  const outcome = await settleClaim(host, pairing);
  return outcome.kind === "paired" ? await withWords(host, outcome.phone) : outcome;
}

/**
 * Only a code that is still pending here pairs a phone: several programs may ask, and a relay may give each a different
 * claim, or a claim only after its phone was revoked.
 */
async function settleClaim(host: PairingHost, pairing: PendingPairing): Promise<SettledClaim> {
  const phone = await claimOf(host, pairing);
  if (phone === "open") return { kind: "open" };
  const outcome = phone === "ended" ? { kind: "ended" as const } : await judge(host, { pairing, phone });
  const { phones } = await changePaired(host.files, host.paths, (file) => {
    const pending = file.pending.filter(({ code }) => code !== pairing.code);
    const rest = { ...file, pending };
    if (outcome.kind !== "paired" || pending.length === file.pending.length) return rest;
    const others = file.phones.filter(({ deviceId }) => deviceId !== outcome.phone.deviceId);
    return { ...rest, phones: [...others, outcome.phone], floor: "psk" };
  });
  if (outcome.kind !== "paired") return outcome;
  const stored = phones.find(({ secret }) => secret === pairing.secret);
  return stored === undefined ? { kind: "ended" } : { kind: "paired", phone: stored };
}

/**
 * Every paired phone, the most recent one last. Completes pending pairings first; when the relay does not answer, they
 * stay pending.
 */
export async function pairedPhones(host: PairingHost): Promise<PairedPhone[]> {
  await completePending(host);
  return (await loadPaired(host.files, host.paths)).phones;
}

/** Forgets the phone's secret, even if the phone has only just claimed it; false when there was none. */
export async function forgetClaim(host: PairingHost, deviceId: string): Promise<boolean> {
  await completePending(host);
  return await forgetPhone(host, deviceId);
}

/** Forgets the secret without asking the relay; false when there was none. */
export async function forgetPhone(
  host: Pick<PairingHost, "files" | "paths">,
  deviceId: string,
): Promise<boolean> {
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
      await settleClaim(host, pairing);
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
    }
  }
}

type Claim = NonNullable<PairingStatus["phone"]>;

/**
 * How long after its code's expiry a claim is still accepted, because this host may have been off. It is limited,
 * because a relay may keep a code open indefinitely, and its link may be read from a screen or in a picture.
 */
const CLAIM_KEPT_MS = 86_400_000;

async function claimOf(
  { api, now }: PairingHost,
  { code, expiresAt }: PendingPairing,
): Promise<Claim | "open" | "ended"> {
  if (now() >= expiresAt + CLAIM_KEPT_MS) return "ended";
  try {
    const { phone } = await byDigest(code, (name) => api.pairingStatus(name));
    // The relay's clock, which decides, may be behind this host's.
    return phone ?? (now() < expiresAt + SKEW_MS ? "open" : "ended");
  } catch (error) {
    if (error instanceof RelayError && error.code === "unknown_pairing") return "ended";
    throw error;
  }
}

/** Without the words, which take a while to compute. */
type SettledClaim = Exclude<PairingOutcome, { kind: "paired" }> | { kind: "paired"; phone: PairedPhone };

async function judge(
  host: PairingHost,
  { pairing, phone }: { pairing: PendingPairing; phone: Claim },
): Promise<SettledClaim> {
  const { deviceId, name, publicKey, proof } = phone;
  const identity = await loadIdentity(host.files, host.paths);
  if (publicKey === undefined || identity === undefined) return { kind: "joined", name };
  const secret = await keyOf(pairing.secret);
  if (proof !== await phoneProof(secret, { code: pairing.code, name, publicKey })) {
    return { kind: "unproven", name, deviceId };
  }
  const paired = { deviceId, name, publicKey, secret: pairing.secret, pairedAt: host.now() };
  const { script } = pairing;
  return { kind: "paired", phone: { ...paired, ...(script && { script }) } };
}

async function withWords(
  { files, paths, deviceId }: PairingHost,
  phone: PairedPhone,
): Promise<PairingOutcome> {
  const identity = await loadIdentity(files, paths);
  if (identity === undefined) return { kind: "ended" };
  const listener = { deviceId, publicKey: await exportPublicKey(identity.publicKey) };
  return { kind: "paired", phone, words: await checkPhrase(await keyOf(phone.secret), { phone, listener }) };
}

/** Throws when the text is not a secret of this program. */
async function keyOf(secret: string): Promise<CryptoKey> {
  const key = await importSecret(secret);
  if (key === undefined) {
    throw new Error("Cannot use the secret of the pairing: it is not 256 bits. Pair again.");
  }
  return key;
}
