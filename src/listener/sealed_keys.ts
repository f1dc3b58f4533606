/** Binds the keys that open messages and streams to the files of this account and its relay. */
import type { RelayApi } from "../client/api.ts";
import { importSecret } from "../crypto/paired_secret.ts";
import { loadIdentity } from "../home/identity.ts";
import { findPhone } from "../home/paired_phones.ts";
import type { HomePaths } from "../home/paths.ts";
import type { Files } from "../runtime/types.ts";
import type { SealedKeys } from "./sealed_message.ts";

export interface SealedFiles {
  files: Files;
  paths: HomePaths;
  api: Pick<RelayApi, "createPairing" | "pairingStatus">;
  deviceId: string;
  hostname: string;
  now(): number;
}

/** Read anew each time: `svc pair` and `svc devices revoke` change them while the daemon runs. */
export function sealedKeys(host: SealedFiles): SealedKeys {
  return {
    deviceId: host.deviceId,
    identity: () => loadIdentity(host.files, host.paths),
    secretOf: async (phone) => {
      const paired = await findPhone(host, phone);
      return paired && await importSecret(paired.secret);
    },
  };
}
