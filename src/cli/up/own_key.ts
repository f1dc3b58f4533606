/** The key with which this machine speaks to its own relay: the configured one if the relay knows it, else a new one. */
import { runtime } from "#runtime";
import { loadConfig, saveConfig } from "../../home/config.ts";
import { newHookId } from "../../home/hook_id.ts";
import type { HomePaths } from "../../home/paths.ts";
import { SCOPES } from "../../protocol/http.ts";
import { createKey, findKey } from "../../relay/keys.ts";
import { openStore } from "../../store/sqlite.ts";

export interface OwnKey {
  apiKey: string;
  /** True when the configuration changed: a running listener does not know it yet. */
  changed: boolean;
}

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
  const apiKey = await knownKey(dataDir, config.apiKey);
  const changed = apiKey !== config.apiKey || wsUrl !== config.wsUrl;
  const hookId = config.hookId ?? newHookId();
  if (changed || config.hookId === undefined) {
    await saveConfig(runtime.files, paths, { apiKey, wsUrl, hookId });
  }
  return { apiKey, changed };
}

async function knownKey(dataDir: string, configured: string | undefined): Promise<string> {
  const store = await openStore(dataDir);
  try {
    const found = configured ? await findKey(store, configured) : undefined;
    if (found && configured) return configured;
    return (await createKey(store, { name: runtime.hostname(), scopes: SCOPES })).key;
  } finally {
    await store.close();
  }
}

/** An earlier `svc up` on another port. */
function isOwnAddress(wsUrl: string): boolean {
  return URL.canParse(wsUrl) && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(wsUrl).hostname);
}
