/** The keys by which this host opens what paired phones seal for it, and seals what it tells them. */
import type { Files } from "../runtime/types.ts";
import type { Sealing } from "../crypto/mode.ts";
import { importSecret } from "../crypto/paired_secret.ts";
import type { PhoneKeys } from "../crypto/sealed_for_phones.ts";
import { SEALED_PHONES_MAX } from "../protocol/limits.ts";
import type { Config } from "./config.ts";
import { loadIdentity } from "./identity.ts";
import { loadPaired, sealingFloor } from "./paired.ts";
import type { HomePaths } from "./paths.ts";
import { findPhone, pairedPhones, type PairingHost } from "./paired_phones.ts";

/** Who acts on a sealed answer: the program that asked, or the listener that types it late. */
export type AnswerTaker = "asker" | "listener";

export interface SealedKeys {
  /** The listener's device id. */
  deviceId: string;
  /** Undefined before the first pairing. */
  identity(): Promise<CryptoKeyPair | undefined>;
  /** What this host shares with a phone; undefined when they are not paired. */
  secretOf(phone: string): Promise<CryptoKey | undefined>;
  /** What this host shares with itself, for its own `svc send`. */
  ownSecret(): Promise<CryptoKey | undefined>;
  /** False when another program of this host acts on this answer. */
  claimAnswer(id: string, by: AnswerTaker): Promise<boolean>;
  /** The weakest sealing that this host takes now; `psk` where the pairings cannot be read. */
  floor(config: Config): Promise<Sealing>;
  /** The phones that this host's words are sealed for, at most `SEALED_PHONES_MAX`. */
  phones(): Promise<PhoneKeys[]>;
}

/** Read anew each time: `svc pair` and `svc devices revoke` change them while others run. Throws on broken files. */
export function sealedKeys(host: PairingHost): SealedKeys {
  return {
    deviceId: host.deviceId,
    identity: () => loadIdentity(host.files, host.paths),
    secretOf: async (phone) => {
      const paired = await findPhone(host, phone);
      return paired && await importSecret(paired.secret);
    },
    ownSecret: async () => {
      const { own } = await loadPaired(host.files, host.paths);
      return own && await importSecret(own.secret);
    },
    claimAnswer: (id, by) => claimAnswer(host.files, host.paths, { id, by, now: host.now() }),
    floor: async (config) => {
      try {
        return sealingFloor(await loadPaired(host.files, host.paths), config);
      } catch {
        return config.requireEncryption ?? "psk";
      }
    },
    phones: async () => {
      const readers = (await pairedPhones(host)).filter(({ script }) => script !== true);
      const paired = readers.slice(-SEALED_PHONES_MAX);
      const keys = await Promise.all(paired.map(async ({ deviceId, publicKey, secret }) => {
        const key = await importSecret(secret);
        return key === undefined ? [] : [{ deviceId, publicKey, secret: key }];
      }));
      return keys.flat();
    },
  };
}

/** Longer than any sealed answer lives. */
const CLAIM_KEPT_MS = 8 * 24 * 3_600_000;

/** False if the other one has claimed it. The same one may claim it again: its own records say what it has done. */
export async function claimAnswer(
  files: Files,
  { answers }: Pick<HomePaths, "answers">,
  { id, by, now }: { id: string; by: AnswerTaker; now: number },
): Promise<boolean> {
  await files.makeDirectory(answers, { mode: 0o700 });
  await forgetOld(files, answers, now);
  const path = `${answers}/${id}`;
  if (await files.createText(path, by, { mode: 0o600 })) return true;
  return await files.readText(path) === by;
}

async function forgetOld(files: Files, folder: string, now: number): Promise<void> {
  for (const name of await files.list(folder)) {
    const info = await files.info(`${folder}/${name}`);
    if (info !== undefined && info.mtimeMs < now - CLAIM_KEPT_MS) await files.remove(`${folder}/${name}`);
  }
}
