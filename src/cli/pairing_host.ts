/** Binds what a pairing needs to this machine, and builds the link that a phone opens. */
import { runtime } from "#runtime";
import type { RelayApi } from "../client/api.ts";
import { deviceNameOf, loadConfig } from "../home/config.ts";
import type { PendingPairing } from "../home/paired.ts";
import type { PairingHost } from "../home/pairing.ts";
import type { HomePaths } from "../home/paths.ts";
import { listenerDeviceId } from "../protocol/names.ts";

export async function pairingHost(paths: HomePaths, api: RelayApi): Promise<PairingHost> {
  const { files } = runtime;
  const hostname = deviceNameOf(await loadConfig(files, paths), runtime.hostname());
  return { files, paths, api, hostname, deviceId: await listenerDeviceId(hostname), now: () => Date.now() };
}

/** Code and secret stand in the fragment, which no browser sends to a server. Short: its QR must fit a terminal. */
export function pairingLink(base: string, { code, secret }: PendingPairing): string {
  return `${base.replace(/\/+$/, "")}/#pair=${code}&s=${secret}`;
}
