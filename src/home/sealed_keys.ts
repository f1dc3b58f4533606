/** The keys by which this host opens what paired phones seal for it, and seals what it tells them. */
import type { Sealing } from "../crypto/mode.ts";
import { importSecret } from "../crypto/paired_secret.ts";
import type { PhoneKeys } from "../crypto/sealed_for_phones.ts";
import { SEALED_PHONES_MAX } from "../protocol/limits.ts";
import { type AnswerTaker, claimAnswer } from "./answer_claims.ts";
import type { Config } from "./config.ts";
import { loadIdentity } from "./identity.ts";
import { loadPaired, sealingFloor } from "./paired.ts";
import { findPhone, pairedPhones, type PairingHost } from "./paired_phones.ts";

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
