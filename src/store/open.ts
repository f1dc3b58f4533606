/** Opens the store of a relay's folder (its SQLite database, or NATS if the relay was last started with it), and copies all of a store into another. */
import { runtime } from "#runtime";
import * as z from "zod/mini";
import { readStateText } from "../home/damage.ts";
import { parseJson } from "../protocol/json.ts";
import { minLength } from "../protocol/lengths.ts";
import type { NatsAddress } from "../runtime/nats_address.ts";
import { openStore } from "./sqlite.ts";
import { type CopyStore, type Store, StoreUnavailable } from "./store.ts";

/** Where a relay keeps its data in NATS. Files are given by path, because their content may be replaced. */
const NatsSettingsFile = z.object({
  servers: z.array(z.string()).check(minLength(1)),
  prefix: z.string(),
  /** The files of the credentials and of the authority's certificate. */
  credentials: z.optional(z.string()),
  ca: z.optional(z.string()),
});
export type NatsSettings = z.infer<typeof NatsSettingsFile>;

const settingsFile = (dataDir: string): string => `${dataDir}/nats.json`;

/** Reads the files that the settings name. */
export async function natsAddress(settings: NatsSettings): Promise<NatsAddress> {
  const { servers, prefix, credentials, ca } = settings;
  return { servers, prefix, credentials: await textOf(credentials), ca: await textOf(ca) };
}

async function textOf(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const text = await runtime.files.readText(path);
  if (text === undefined) throw new StoreUnavailable(`Cannot read "${path}": there is no such file`);
  return text;
}

/** Records where the relay's data is, for other commands on this machine; without settings, in the folder itself. */
export async function noteNats(dataDir: string, settings: NatsSettings | undefined): Promise<void> {
  const { files } = runtime;
  const file = settingsFile(dataDir);
  if (settings === undefined) {
    await files.remove(file);
    return;
  }
  await files.makeDirectory(dataDir, { mode: 0o700 });
  await files.writeText(file, `${JSON.stringify(settings)}\n`, { mode: 0o600 });
}

/** The store of the relay that was last started on the folder. Rejects with StoreUnavailable. */
export async function openRelayStore(dataDir: string, options: { busyMs?: number } = {}): Promise<Store> {
  const text = await readStateText(runtime.files, settingsFile(dataDir));
  if (text === undefined) return await openStore(dataDir, options);
  const { openNatsStore } = await import("./nats.ts");
  return await openNatsStore(await natsAddress(parseSettings(text, settingsFile(dataDir))));
}

/** Throws StoreUnavailable. */
function parseSettings(text: string, file: string): NatsSettings {
  const settings = NatsSettingsFile.safeParse(parseJson(text)?.value);
  if (settings.success) return settings.data;
  throw new StoreUnavailable(`Cannot read "${file}": it is damaged. Restart svc server, which writes it.`);
}

/** True when the relay that was last started on the folder keeps its data in NATS: a database in it is older. */
export async function isOnNats(dataDir: string): Promise<boolean> {
  return await runtime.files.info(settingsFile(dataDir)) !== undefined;
}

/** True when a relay was started on the folder. */
export async function hasStore(dataDir: string): Promise<boolean> {
  const found = await Promise.all(
    ["relay.db", "nats.json"].map((name) => runtime.files.info(`${dataDir}/${name}`)),
  );
  return found.some((info) => info !== undefined);
}

export interface Copied {
  accounts: number;
  keys: number;
  devices: number;
  pushes: number;
  /** Pushes that the copy did not have, and pushes whose receipts had changed. */
  added: number;
  changed: number;
}

/**
 * Copies all that is stored. Rejects with StoreUnavailable; what was copied so far stays, and the next copy continues
 * from it.
 */
export async function copyStore(
  { from, to }: { from: CopyStore; to: CopyStore },
  now: number,
): Promise<Copied> {
  await to.beginCopy();
  await to.writeSecrets(await from.readSecrets());
  const copied: Copied = { accounts: 0, keys: 0, devices: 0, pushes: 0, added: 0, changed: 0 };
  const accounts = new Set(await from.accountIds());
  for (const account of accounts) {
    const found = await from.readAccount(account);
    // A device that is connected now is one that the copy has just seen.
    const devices = found.devices.map((one) => one.online ? { ...one, online: false, lastSeen: now } : one);
    await to.writeAccount({ ...found, devices });
    copied.accounts += 1;
    copied.keys += found.keys.length;
    copied.devices += devices.length;
  }
  for await (const page of from.readPushes()) {
    // An account that was created meanwhile is left to the next copy.
    const pushes = page.filter(({ account }) => accounts.has(account));
    const { added, changed } = await to.writePushes(pushes);
    copied.pushes += pushes.length;
    copied.added += added;
    copied.changed += changed;
  }
  await to.endCopy();
  return copied;
}
