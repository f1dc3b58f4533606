/** The keys by which this host opens what paired phones seal for it, and seals what it tells them. */
import { importSecret } from "../crypto/paired_secret.ts";
import type { PhoneKeys } from "../crypto/sealed_for_phones.ts";
import { SEALED_PHONES_MAX } from "../protocol/limits.ts";
import { loadIdentity } from "./identity.ts";
import { findPhone, pairedPhones, type PairingHost } from "./paired_phones.ts";

export interface SealedKeys {
  /** The listener's device id. */
  deviceId: string;
  /** Undefined before the first pairing. */
  identity(): Promise<CryptoKeyPair | undefined>;
  /** What this host shares with a phone; undefined when they are not paired. */
  secretOf(phone: string): Promise<CryptoKey | undefined>;
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
    phones: async () => {
      const paired = (await pairedPhones(host)).slice(-SEALED_PHONES_MAX);
      const keys = await Promise.all(paired.map(async ({ deviceId, publicKey, secret }) => {
        const key = await importSecret(secret);
        return key === undefined ? [] : [{ deviceId, publicKey, secret: key }];
      }));
      return keys.flat();
    },
  };
}
