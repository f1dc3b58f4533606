/** How the relay knows this host: its name, the device id that follows from it, and its identity. */
import { errorText } from "../async/error_text.ts";
import { exportPublicKey } from "../crypto/keys.ts";
import { deviceNameOf } from "../home/config.ts";
import { ensureIdentity, withPairedLock } from "../home/paired.ts";
import { listenerDeviceId } from "../protocol/names.ts";
import { runtime } from "#runtime";
import type { ListenerOptions } from "./types.ts";

export interface HostNames {
  name: string;
  deviceId: string;
  /** Of the identity; undefined when its file cannot be used, which pairing reports. */
  publicKey: string | undefined;
}

export async function hostNames(options: ListenerOptions): Promise<HostNames> {
  const name = deviceNameOf(options.config, runtime.hostname());
  return { name, deviceId: await listenerDeviceId(name), publicKey: await identityKey(options) };
}

async function identityKey({ paths, log }: ListenerOptions): Promise<string | undefined> {
  const { files } = runtime;
  try {
    const identity = await withPairedLock(files, paths, () => ensureIdentity(files, paths));
    return await exportPublicKey(identity.publicKey);
  } catch (error) {
    log(`identity: not sent to the relay: ${errorText(error)}`);
    return undefined;
  }
}
