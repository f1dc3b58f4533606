/** Creates an API key in a relay's data directory, as `svc keys create` does. */
import type { Scope } from "../../src/protocol/http.ts";
import { createKey } from "../../src/relay/api_keys.ts";
import { openRelayStore } from "../../src/store/open.ts";
import { SAFETY_LIMIT_MS } from "./until.ts";

export async function newKey(dataDir: string, scopes: readonly Scope[]): Promise<string> {
  const store = await openRelayStore(dataDir, { busyMs: SAFETY_LIMIT_MS });
  try {
    return (await createKey(store, { name: "test", scopes })).key;
  } finally {
    await store.close();
  }
}
