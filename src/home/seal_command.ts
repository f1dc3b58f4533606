/** Seals a message for a host as a phone does: of a paired script, or of `svc send` on the host itself. */
import { exportPublicKey } from "../crypto/keys.ts";
import { importSecret, newSecret } from "../crypto/paired_secret.ts";
import { sealMessage } from "../crypto/stored_message.ts";
import type { PushRequestInput } from "../protocol/push.ts";
import { loadIdentity } from "./identity.ts";
import { changePaired } from "./paired.ts";
import type { PairingHost } from "./paired_phones.ts";
import type { ScriptPairing } from "./script_pairing.ts";

/** What a sealed message of this sender is made with. */
export interface CommandSealer {
  /** The sender, as the host binds it to the secret. */
  from: string;
  host: { deviceId: string; publicKey: string };
  secret: string;
  counter: number;
}

export function scriptSealer({ deviceId, host, secret, counter }: ScriptPairing): CommandSealer {
  return { from: deviceId, host, secret, counter };
}

/** Of this host for itself; undefined before its first pairing, when it has no key yet. */
export async function ownSealer(
  host: Pick<PairingHost, "files" | "paths" | "deviceId">,
): Promise<CommandSealer | undefined> {
  const { files, paths, deviceId } = host;
  const identity = await loadIdentity(files, paths);
  if (identity === undefined) return undefined;
  const { own } = await changePaired(files, paths, (file) => {
    const { secret, counter } = file.own ?? { secret: newSecret(), counter: 0 };
    return { ...file, own: { secret, counter: counter + 1 } };
  });
  if (own === undefined) return undefined;
  const publicKey = await exportPublicKey(identity.publicKey);
  return { from: deviceId, host: { deviceId, publicKey }, ...own };
}

/** The push with its text sealed, good for as long as it lives at the relay. */
export async function sealCommand(
  push: PushRequestInput & { body: string; ttlSeconds: number },
  { from, host, secret: text, counter }: CommandSealer,
): Promise<PushRequestInput & { id: string }> {
  const { body, ...rest } = push;
  const id = crypto.randomUUID();
  const place = {
    ...{ id, type: push.type, from, targetDeviceId: host.deviceId },
    agentSessionName: push.agentSessionName ?? "",
    sendAnyway: push.data?.sendAnyway === true,
  };
  const secret = await importSecret(text);
  if (secret === undefined) {
    throw new Error("Cannot seal the message: its secret is not 256 bits. Pair again.");
  }
  const content = { body, counter, notAfter: Date.now() + push.ttlSeconds * 1_000 };
  const sealed = await sealMessage(content, { place, publicKey: host.publicKey, secret });
  return { ...rest, id, targetDeviceId: host.deviceId, sealed };
}
