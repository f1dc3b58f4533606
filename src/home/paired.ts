/** What pairing keeps on this host: its own key pair, and `paired.json` with the phones that share a secret with it. */
import * as z from "zod/mini";
import { exportKeyPair, generateKeyPair, importKeyPair } from "../crypto/keys.ts";
import type { Sealing } from "../crypto/mode.ts";
import { describeFaults } from "../protocol/errors.ts";
import { parseJson } from "../protocol/json.ts";
import type { Files } from "../runtime/types.ts";
import type { Config } from "./config.ts";
import { readStateText } from "./damage.ts";
import { withLock } from "./lock.ts";
import type { HomePaths } from "./paths.ts";

/** A private key of P-256 as a JSON Web Key (RFC 7518, section 6.2). */
const Identity = z.looseObject({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: z.string(),
  y: z.string(),
  d: z.string(),
});

/** The listener's own key pair; undefined before it was created. Throws when the file does not hold a key. */
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
    const mend = "Remove it and pair every phone again.";
    throw new Error(`Cannot use the key in "${identity}": it is not a P-256 key. ${mend}`, { cause: error });
  }
}

/** Creates the key pair at the first start or pairing. The caller holds the lock: two processes would create two. */
export async function ensureIdentity(files: Files, paths: HomePaths): Promise<CryptoKeyPair> {
  const known = await loadIdentity(files, paths);
  if (known !== undefined) return known;
  const made = await generateKeyPair({ extractable: true });
  const text = `${JSON.stringify(await exportKeyPair(made))}\n`;
  await files.replaceText(paths.identity, text, { mode: 0o600 });
  return made;
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
export const PendingPairing = z.object({ code: z.string(), secret: z.string(), expiresAt: z.number() });
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
  throw new Error(`Cannot read the paired phones in "${paired}": ${why}. Remove it and pair again.`);
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
    await files.replaceText(paths.paired, `${JSON.stringify(changed, null, 2)}\n`, { mode: 0o600 });
    return changed;
  });
}

/** The weakest encryption mode that this host accepts: as configured, else `psk` from the first pairing on. */
export function sealingFloor({ phones, floor }: PairedFile, { requireEncryption }: Config): Sealing {
  return requireEncryption ?? floor ?? (phones.length > 0 ? "psk" : "off");
}

/** Another process has been changing the pairings for too long: what needs them may succeed later. */
export class PairingsBusy extends Error {
  override name = "PairingsBusy";
}

/** Runs `work` while no other process changes the pairings or the key pair. Throws PairingsBusy after waiting for 5 s. */
export async function withPairedLock<T>(
  files: Files,
  paths: HomePaths,
  work: () => Promise<T>,
): Promise<T> {
  await files.makeDirectory(paths.root, { mode: 0o700 });
  const busy = (): Error =>
    new PairingsBusy(`Cannot change the pairings: another svc holds "${paths.pairedLock}". Try again.`);
  return await withLock(files, paths.pairedLock, { busy, work });
}
