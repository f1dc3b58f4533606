/** Joins this host to its own relay: its address, and a listener's key that works for this device only and lacks admin. */
import { runtime } from "#runtime";
import { type Config, deviceNameOf, loadConfig, newHookId, saveConfig } from "../../home/config.ts";
import type { HomePaths } from "../../home/paths.ts";
import type { Scope } from "../../protocol/http.ts";
import { listenerDeviceId } from "../../protocol/names.ts";
import { createKey, findKey } from "../../relay/api_keys.ts";
import { openStore } from "../../store/sqlite.ts";
import type { KeyRecord, Store } from "../../store/store.ts";

interface OwnKey {
  apiKey: string;
  /** The configuration changed: a running listener does not know it yet. */
  changed: boolean;
  /** A line for the user about the key that was used before. */
  notice: string | undefined;
}

/** Commands that need `admin` use the store instead, as svc keys does. */
const LISTENER_SCOPES: readonly Scope[] = ["push:send", "push:read"];

/** Writes address and key into the configuration. Throws Error when that names another relay, unless `replace` is set. */
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

/** The configured key if it belongs to this listener; else a new one, which replaces the one in use. */
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

/** The old key keeps working for others who use it, but no longer for anything of this host. */
async function takeOver(
  store: Store,
  { used, made, dataDir }: { used: KeyRecord; made: string; dataDir: string },
): Promise<string> {
  await store.replaceKey({ from: used.id, to: made });
  return `This host now has a listener's key of its own. The one that it used before (${used.id}, ${
    used.scopes.join(", ")
  }) still works, for browsers and scripts that use it. When nothing needs it any more, run: svc keys revoke ${used.id} --data ${dataDir}`;
}

/** An earlier `svc up` on another port. */
function isOwnAddress(wsUrl: string): boolean {
  return URL.canParse(wsUrl) && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(wsUrl).hostname);
}
