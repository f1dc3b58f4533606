/** Which relay this host connects to, and with which key: the precedence of options, configuration and environment. */
import { httpBaseFromWs } from "../client/addresses.ts";
import type { Config } from "./config.ts";

export type WsUrlSource = "option" | "config" | "environment";

/** The values that the addresses are chosen from. */
export interface AddressInputs {
  /** `--ws-url`, for a single run. */
  option?: string | undefined;
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
}

/** Precedence (docs/specification.md, Environment variables): `--ws-url`, then `wsUrl` in the file, then the deprecated `SVC_WS_URL`. Throws on what is no ws address. */
export function resolveWsUrl(inputs: AddressInputs): { url: string; source: WsUrlSource } | undefined {
  const { option, config, env } = inputs;
  const found = option
    ? { url: option, source: "option" as const }
    : config.wsUrl
    ? { url: config.wsUrl, source: "config" as const }
    : env.SVC_WS_URL
    ? { url: env.SVC_WS_URL, source: "environment" as const }
    : undefined;
  if (found !== undefined && !isWsUrl(found.url)) {
    throw new TypeError(
      `Cannot use the WebSocket address "${found.url}" (${
        SOURCE_NAMES[found.source]
      }): it must be ws://HOST/… or wss://HOST/….`,
    );
  }
  return found;
}

const SOURCE_NAMES: Record<WsUrlSource, string> = {
  option: "--ws-url",
  config: "wsUrl in config.json",
  environment: "SVC_WS_URL",
};

function isWsUrl(text: string): boolean {
  return /^wss?:\/\//i.test(text) && URL.canParse(text);
}

/** The HTTP address: `SVC_BASE_URL`, then `baseUrl` in the file, then the one that follows from the WebSocket address. */
export function resolveBaseUrl(inputs: AddressInputs): string | undefined {
  const named = inputs.env.SVC_BASE_URL || inputs.config.baseUrl;
  if (named) return named.replace(/\/+$/, "");
  const ws = resolveWsUrl(inputs);
  return ws && httpBaseFromWs(ws.url);
}

/** The key of the listener: the file's, then `SVC_API_KEY`. */
export function listenerApiKey({ config, env }: AddressInputs): string | undefined {
  return config.apiKey || env.SVC_API_KEY || undefined;
}

/** The key of a script such as `svc send`: `SVC_API_KEY`, then the file's. */
export function scriptApiKey({ config, env }: AddressInputs): string | undefined {
  return env.SVC_API_KEY || config.apiKey || undefined;
}
