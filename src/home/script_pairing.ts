/** Seals messages as a phone does: for a script paired by `svc pair --script`, or for `svc send` on the host itself. */
import * as z from "zod/mini";
import { errorText } from "../async/error_text.ts";
import { createRelayApi, type RelayApi } from "../client/api.ts";
import { claimPairing } from "../client/claim_pairing.ts";
import { exportPublicKey, generateKeyPair } from "../crypto/keys.ts";
import { importSecret, newSecret, receiptProof } from "../crypto/paired_secret.ts";
import { sealMessage } from "../crypto/stored_message.ts";
import { describeFaults } from "../protocol/errors.ts";
import { parseJson } from "../protocol/json.ts";
import type { PushRequestInput } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import { shellLine } from "../runtime/system.ts";
import type { Files } from "../runtime/types.ts";
import {
  changePaired,
  completePairing,
  loadIdentity,
  offerPairing,
  type PairingHost,
  withdrawPairing,
} from "./pairing.ts";
import { withLock } from "./lock.ts";

/** The file, with an API key and a secret: only its owner may read it. */
const ScriptPairing = z.object({
  version: z.literal(1),
  baseUrl: z.string(),
  apiKey: z.string(),
  /** The script's device id at the relay. */
  deviceId: z.string(),
  host: z.object({ deviceId: z.string(), name: z.string(), publicKey: z.string() }),
  /** base64url of 256 bits. */
  secret: z.string(),
  /** The last counter that was used in a message. */
  counter: z.int().check(z.minimum(0)),
});
export type ScriptPairing = z.infer<typeof ScriptPairing>;

const OTHERS = 0o077;

export interface ScriptPairingOptions {
  path: string;
  /** The script's name in `svc devices`. */
  name: string;
  /** The address at which the script reaches the relay. */
  baseUrl: string;
}

/** Pairs a script and writes its file. Throws RelayError, or an Error if the file exists or the claim is not proven. */
export async function pairScript(
  host: PairingHost & { api: Pick<RelayApi, "baseUrl"> },
  { path, name, baseUrl }: ScriptPairingOptions,
): Promise<ScriptPairing> {
  await createEmpty(host.files, path);
  try {
    return await pairInto(host, { path, name, baseUrl });
  } catch (error) {
    await host.files.remove(path);
    throw error;
  }
}

/** Called before anything is paired, because a host that has paired refuses unsealed messages. */
async function createEmpty(files: Files, path: string): Promise<void> {
  const isNew = await files.createText(path, "", { mode: 0o600 }).catch((error) => {
    throw new Error(
      `Cannot write the pairing to "${path}": ${errorText(error)}. Name a file in a folder of yours.`,
    );
  });
  if (!isNew) throw new Error(`Cannot write the pairing to "${path}": it exists. Name a new file.`);
}

async function pairInto(
  host: PairingHost & { api: Pick<RelayApi, "baseUrl"> },
  { path, name, baseUrl }: ScriptPairingOptions,
): Promise<ScriptPairing> {
  const pairing = await offerPairing(host, { script: true });
  const { code, secret } = pairing;
  try {
    const claim = { code, secret, name, keyPair: await generateKeyPair() };
    const { account, paired } = await claimPairing(createRelayApi({ baseUrl: host.api.baseUrl }), claim);
    if (paired === undefined) {
      throw new Error("Cannot pair the script: the relay's answer does not prove the host");
    }
    const { deviceId, host: hostName, publicKey } = paired.host;
    const made = { version: 1 as const, baseUrl, ...account, host: { deviceId, name: hostName, publicKey } };
    const script: ScriptPairing = { ...made, secret, counter: 0 };
    // Written before the pairing is completed: without its file, the script's device could never be used.
    await host.files.replaceText(path, textOf(script), { mode: 0o600 });
    const { kind } = await completePairing(host, pairing);
    if (kind === "paired") return script;
    throw new Error(`Cannot pair the script: the relay's answer does not prove the claim (${kind})`);
  } catch (error) {
    // The listener would complete it later.
    await withdrawPairing(host, pairing);
    throw error;
  }
}

/** Throws when the file is missing, invalid, or readable by others. */
export async function loadScriptPairing(files: Files, path: string): Promise<ScriptPairing> {
  const info = await files.info(path);
  if (info === undefined) throw new Error(`Cannot read the pairing "${path}": there is no such file.`);
  if ((info.mode & OTHERS) !== 0) {
    throw new Error(
      `Cannot use the pairing "${path}": others can read it. Run: ${shellLine(["chmod", "600", path])}`,
    );
  }
  const parsed = ScriptPairing.safeParse(parseJson(await files.readText(path) ?? "")?.value);
  if (parsed.success) return parsed.data;
  const why = describeFaults(parsed.error);
  throw new Error(`Cannot use the pairing "${path}": ${why}. Make a new one with svc pair --script FILE.`);
}

/** Returns the file's content with the next counter, which is on the disk before it is used. */
export async function nextScriptCounter(files: Files, path: string): Promise<ScriptPairing> {
  // Before the lock, which makes a file beside it.
  await loadScriptPairing(files, path);
  const busy = (): Error => new Error(`Cannot use the pairing "${path}": another svc holds its lock.`);
  const work = async (): Promise<ScriptPairing> => {
    const before = await loadScriptPairing(files, path);
    const next = { ...before, counter: before.counter + 1 };
    await files.replaceText(path, textOf(next), { mode: 0o600 });
    return next;
  };
  return await withLock(files, `${path}.lock`, { busy, work });
}

/** True when the host has proven the receipt; false when only the relay reports it. */
export async function isProvenReceipt(
  { secret: text }: Pick<ScriptPairing, "secret">,
  { id, receipt }: { id: string; receipt: Receipt },
): Promise<boolean> {
  const secret = await importSecret(text);
  return secret !== undefined && receipt.proof === await receiptProof(secret, { id, ...receipt });
}

function textOf(script: ScriptPairing): string {
  return `${JSON.stringify(script, null, 2)}\n`;
}

/** The sender and the keys of a sealed message. */
export interface CommandSealer {
  /** The sender's device id, which the host looks the secret up by. */
  from: string;
  host: { deviceId: string; publicKey: string };
  secret: string;
  counter: number;
}

export function scriptSealer({ deviceId, host, secret, counter }: ScriptPairing): CommandSealer {
  return { from: deviceId, host, secret, counter };
}

/** For `svc send` on the host itself; undefined before its first pairing, when it has no key pair. */
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

/** Seals the push's text. The sealed message is valid until the push expires at the relay. */
export async function sealCommand(
  push: PushRequestInput & { body: string; ttlSeconds: number },
  { from, host, secret: text, counter }: CommandSealer,
): Promise<PushRequestInput & { id: string }> {
  const { body, ...rest } = push;
  const id = crypto.randomUUID();
  const boundTo = {
    id,
    type: push.type,
    from,
    targetDeviceId: host.deviceId,
    agentSessionName: push.agentSessionName ?? "",
    sendAnyway: push.data?.sendAnyway === true,
  };
  const secret = await importSecret(text);
  if (secret === undefined) {
    throw new Error("Cannot seal the message: its secret is not 256 bits. Pair again.");
  }
  const content = { body, counter, notAfter: Date.now() + push.ttlSeconds * 1_000 };
  const sealed = await sealMessage(content, { boundTo, publicKey: host.publicKey, secret });
  return { ...rest, id, targetDeviceId: host.deviceId, sealed };
}
