/** Which store a relay's folder stands for: its SQLite database, or NATS, when the relay was last started with it. */
import { runtime } from "#runtime";
import * as z from "zod/mini";
import { readStateText } from "../home/damage.ts";
import { parseJson } from "../protocol/json.ts";
import { minLength } from "../protocol/lengths.ts";
import type { NatsAddress } from "../runtime/nats_address.ts";
import { openStore } from "./sqlite.ts";
import { type Store, StoreUnavailable } from "./store.ts";

/** Where a relay keeps its data in NATS. The files are named, because what is in them may be replaced. */
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

/** Notes for other commands on this machine where the relay's data is; without settings, in the folder itself. */
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

/** True when a relay was started on the folder. */
export async function hasStore(dataDir: string): Promise<boolean> {
  const found = await Promise.all(
    ["relay.db", "nats.json"].map((name) => runtime.files.info(`${dataDir}/${name}`)),
  );
  return found.some((info) => info !== undefined);
}
