/** Who this host is to the relay: its name, device id and public key, and the HTTP calls in its name. */
import { runtime } from "#runtime";
import { errorText } from "../async/error_text.ts";
import { createRelayApi, type RelayApi } from "../client/api.ts";
import { exportPublicKey } from "../crypto/keys.ts";
import { type Config, deviceNameOf, resolveBaseUrl } from "../home/config.ts";
import { ensureIdentity, withPairedLock } from "../home/pairing.ts";
import { listenerDeviceId } from "../protocol/names.ts";
import type { HomePaths } from "../home/paths.ts";

export interface HostIdentity {
  name: string;
  deviceId: string;
  /** Undefined if the identity file cannot be used, which pairing reports. */
  publicKey: string | undefined;
}

interface IdentityOptions {
  paths: HomePaths;
  config: Config;
  log(line: string): void;
}

export async function readIdentity(options: IdentityOptions): Promise<HostIdentity> {
  const name = deviceNameOf(options.config, runtime.hostname());
  return { name, deviceId: await listenerDeviceId(name), publicKey: await publicIdentity(options) };
}

async function publicIdentity({ paths, log }: IdentityOptions): Promise<string | undefined> {
  const { files } = runtime;
  try {
    const identity = await withPairedLock(files, paths, () => ensureIdentity(files, paths));
    return await exportPublicKey(identity.publicKey);
  } catch (error) {
    log(`identity: not sent to the relay: ${errorText(error)}`);
    return undefined;
  }
}

export function apiOf(
  { wsUrl, apiKey, config, env }: {
    wsUrl: string;
    apiKey: string;
    config: Config;
    env: Readonly<Record<string, string>>;
  },
): RelayApi {
  return createRelayApi({ baseUrl: resolveBaseUrl({ option: wsUrl, config, env }) ?? "", apiKey });
}
