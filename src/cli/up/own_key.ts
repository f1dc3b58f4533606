/** The key with which this host speaks to its own relay: a listener's, for its device alone and without admin. */
import { runtime } from "#runtime";
import { type Config, deviceNameOf, loadConfig, newHookId, saveConfig } from "../../home/config.ts";
import type { HomePaths } from "../../home/paths.ts";
import type { Scope } from "../../protocol/http.ts";
import { listenerDeviceId } from "../../protocol/names.ts";
import { createKey, findKey } from "../../relay/api_keys.ts";
import { openStore } from "../../store/sqlite.ts";
import type { KeyRecord, Store } from "../../store/store.ts";

export interface OwnKey {
  apiKey: string;
  /** True when the configuration changed: a running listener does not know it yet. */
  changed: boolean;
  /** What to tell the person about the key that was used before. */
  notice: string | undefined;
}

/** What needs `admin` on this host goes to the store, as svc keys does. */
const LISTENER_SCOPES: readonly Scope[] = ["push:send", "push:read"];

/** Writes address and key into the configuration. Throws when it names another relay, unless `replace` is set. */
export async function joinRelay(
  paths: HomePaths,
  { dataDir, wsUrl, replace }: { dataDir: string; wsUrl: string; replace: boolean },
): Promise<OwnKey> {
  const config = await loadConfig(runtime.files, paths);
  const elsewhere = config.wsUrl !== undefined && config.wsUrl !== wsUrl && !isOwnAddress(config.wsUrl);
  if (elsewhere && !replace) {
    throw new Error(
      `Cannot join this relay: "${paths.config}" names another one, "${config.wsUrl}". Add --replace to leave that one, or set SVC_HOME to another folder.`,
    );
  }
  const { apiKey, notice } = await listenerKey(dataDir, config);
  const changed = apiKey !== config.apiKey || wsUrl !== config.wsUrl;
  const hookId = config.hookId ?? newHookId();
  if (changed || config.hookId === undefined) {
    await saveConfig(runtime.files, paths, { apiKey, wsUrl, hookId });
  }
  return { apiKey, changed, notice };
}

/** The configured key where it is this listener's; else a new one, which takes over from the one that was used. */
async function listenerKey(dataDir: string, config: Config): Promise<Omit<OwnKey, "changed">> {
  const name = deviceNameOf(config, runtime.hostname());
  const deviceId = await listenerDeviceId(name);
  const store = await openStore(dataDir);
  try {
    const used = config.apiKey ? await findKey(store, config.apiKey) : undefined;
    if (config.apiKey && used && isListeners(used, deviceId)) {
      return { apiKey: config.apiKey, notice: undefined };
    }
    const wanted = { name, scopes: LISTENER_SCOPES, role: "listener", deviceId } as const;
    const made = await createKey(store, { ...wanted, ...(used ? { account: used.account } : {}) });
    if (used === undefined) return { apiKey: made.key, notice: undefined };
    return { apiKey: made.key, notice: await takeOver(store, { used, made: made.id, dataDir }) };
  } finally {
    await store.close();
  }
}

function isListeners({ role, deviceId, scopes }: KeyRecord, wanted: string): boolean {
  return role === "listener" && deviceId === wanted && !scopes.includes("admin");
}

/** The old key goes on working for whoever else uses it, with nothing of this host's left to it. */
async function takeOver(
  store: Store,
  { used, made, dataDir }: { used: KeyRecord; made: string; dataDir: string },
): Promise<string> {
  await store.replaceKey({ from: used.id, to: made });
  return `This host has a listener's key of its own now. The one that it used before (${used.id}, ${
    used.scopes.join(", ")
  }) still works, for a browser or a script that was given it; when nothing needs it any more: svc keys revoke ${used.id} --data ${dataDir}`;
}

/** An earlier `svc up` on another port. */
function isOwnAddress(wsUrl: string): boolean {
  return URL.canParse(wsUrl) && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(wsUrl).hostname);
}
