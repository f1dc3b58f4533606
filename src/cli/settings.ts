/** What a command that speaks to the relay needs: addresses and key, or one sentence on what is missing. */
import { runtime } from "#runtime";
import { createRelayApi, type RelayApi } from "../client/api.ts";
import {
  type AddressInputs,
  listenerApiKey,
  resolveBaseUrl,
  resolveWsUrl,
  scriptApiKey,
} from "../home/addresses.ts";
import { loadConfig } from "../home/config.ts";
import type { HomePaths } from "../home/paths.ts";

export async function addressInputs(paths: HomePaths, option?: string): Promise<AddressInputs> {
  return { option, config: await loadConfig(runtime.files, paths), env: runtime.env.all() };
}

/** The relay's HTTP side with a script's key. Throws when address or key is missing. */
export function relayApi(paths: HomePaths, inputs: AddressInputs): RelayApi {
  const baseUrl = resolveBaseUrl(inputs);
  const apiKey = scriptApiKey(inputs);
  if (baseUrl === undefined) {
    throw missing(paths, "the relay's address", { field: "wsUrl", or: "set SVC_BASE_URL" });
  }
  if (apiKey === undefined) throw missing(paths, "an API key", { field: "apiKey", or: "set SVC_API_KEY" });
  return createRelayApi({ baseUrl, apiKey });
}

export interface ListenerSettings {
  wsUrl: string;
  apiKey: string;
}

/** Throws when address or key is missing. */
export function listenerSettings(paths: HomePaths, inputs: AddressInputs): ListenerSettings {
  const wsUrl = resolveWsUrl(inputs)?.url;
  const apiKey = listenerApiKey(inputs);
  if (wsUrl === undefined) {
    throw missing(paths, "the relay's WebSocket address", { field: "wsUrl", or: "give --ws-url" });
  }
  if (apiKey === undefined) throw missing(paths, "an API key", { field: "apiKey" });
  return { wsUrl, apiKey };
}

function missing(paths: HomePaths, what: string, { field, or }: { field: string; or?: string }): Error {
  const otherwise = or === undefined ? "" : `, or ${or}`;
  return new Error(
    `Cannot reach the relay: ${what} is not known. Run svc up, or put ${field} into "${paths.config}"${otherwise}.`,
  );
}
