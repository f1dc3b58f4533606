/** What a command needs to reach the relay, or an error that names what is missing; and a local relay's files. */
import { runtime } from "#runtime";
import { httpBaseFromWs } from "../client/addresses.ts";
import { createRelayApi, type RelayApi } from "../client/api.ts";
import {
  type AddressInputs,
  deviceNameOf,
  hostApiKey,
  hostBaseUrl,
  listenerApiKey,
  loadConfig,
  resolveBaseUrl,
  resolveWsUrl,
  scriptApiKey,
} from "../home/config.ts";
import type { PairingHost } from "../home/pairing.ts";
import type { HomePaths } from "../home/paths.ts";
import { checkHome } from "../home/permissions.ts";
import { listenerDeviceId } from "../protocol/names.ts";
import { accountPaths } from "./context.ts";
import { UsageError } from "./output.ts";

export async function addressInputs(paths: HomePaths, option?: string): Promise<AddressInputs> {
  return { option, config: await loadConfig(runtime.files, paths), env: runtime.env.all() };
}

/** The relay's HTTP API with this host's key. Throws Error when address or key is missing. */
export function relayApi(paths: HomePaths, inputs: AddressInputs): RelayApi {
  return apiWith(paths, inputs, hostApiKey(inputs)?.key);
}

/** The same with a script's key. */
export function scriptApi(paths: HomePaths, inputs: AddressInputs): RelayApi {
  return apiWith(paths, inputs, scriptApiKey(inputs));
}

function apiWith(paths: HomePaths, inputs: AddressInputs, apiKey: string | undefined): RelayApi {
  const baseUrl = resolveBaseUrl(inputs);
  if (baseUrl === undefined) {
    throw missing(paths, "the relay's address", { field: "wsUrl", or: "set SVC_BASE_URL" });
  }
  if (apiKey === undefined) throw missing(paths, "an API key", { field: "apiKey", or: "set SVC_API_KEY" });
  return createRelayApi({ baseUrl, apiKey });
}

export interface ListenerSettings {
  wsUrl: string;
  /** The relay's HTTP address. */
  baseUrl: string;
  apiKey: string;
}

/** The relay's addresses and key for the listener and svc mcp. Throws Error when address or key is missing. */
export function listenerSettings(paths: HomePaths, inputs: AddressInputs): ListenerSettings {
  const wsUrl = resolveWsUrl(inputs)?.url;
  const apiKey = listenerApiKey(inputs);
  if (wsUrl === undefined) {
    throw missing(paths, "the relay's WebSocket address", { field: "wsUrl", or: "pass --ws-url" });
  }
  if (apiKey === undefined) throw missing(paths, "an API key", { field: "apiKey" });
  return { wsUrl, apiKey, baseUrl: hostBaseUrl(inputs) ?? httpBaseFromWs(wsUrl) };
}

function missing(paths: HomePaths, what: string, { field, or }: { field: string; or?: string }): Error {
  const otherwise = or === undefined ? "" : `, or ${or}`;
  return new Error(
    `Cannot reach the relay: ${what} is not known. Run svc up, or put ${field} into "${paths.config}"${otherwise}.`,
  );
}

/** This host as a partner in pairings. */
export async function pairingHost(paths: HomePaths, api: RelayApi): Promise<PairingHost> {
  const { files } = runtime;
  const hostname = deviceNameOf(await loadConfig(files, paths), runtime.hostname());
  return { files, paths, api, hostname, deviceId: await listenerDeviceId(hostname), now: () => Date.now() };
}

/** Where the relay keeps its store: `--data`, else `server` in `~/.svc`. Until that exists, throws as `checkHome` does. */
export async function dataDirectory({ data }: { data?: string | undefined }): Promise<string> {
  if (data !== undefined) return data;
  const paths = await accountPaths();
  const folder = `${paths.root}/server`;
  if (await runtime.files.info(folder) === undefined) await checkHome(runtime.files, paths);
  return folder;
}

/** The PEM texts that `--tls-cert` and `--tls-key` name; undefined without the options. Throws UsageError when one is missing or a server cannot use them, and Error when one cannot be read. */
export async function readTls(
  options: { tlsCert?: string | undefined; tlsKey?: string | undefined },
): Promise<{ cert: string; key: string } | undefined> {
  const { tlsCert, tlsKey } = options;
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new UsageError("--tls-cert and --tls-key go together: give both, each with a PEM file.");
  }
  const [cert, key] = [await readPem(tlsCert), await readPem(tlsKey)];
  const { tlsFault } = await import("../runtime/tls_files.ts");
  switch (tlsFault({ cert, key })) {
    case undefined:
      return { cert, key };
    case "certificate":
      throw new UsageError(
        `Cannot use the certificate "${tlsCert}": the file contains no certificate in PEM form. Give one with -----BEGIN CERTIFICATE-----.`,
      );
    case "key":
      throw new UsageError(
        `Cannot use the key "${tlsKey}": the file contains no private key in PEM form without a passphrase. Give one with -----BEGIN PRIVATE KEY-----.`,
      );
    case "pair":
      throw new UsageError(
        `Cannot use the key "${tlsKey}": it does not belong to the first certificate in "${tlsCert}". Name the key of that certificate, which must be the relay's own.`,
      );
  }
}

async function readPem(path: string): Promise<string> {
  if ((await runtime.files.info(path))?.isDirectory === true) {
    throw new UsageError(`Cannot read "${path}": it is a folder. Name a PEM file.`);
  }
  const text = await runtime.files.readText(path);
  if (text === undefined) throw new Error(`Cannot read "${path}": there is no such file. Name a PEM file.`);
  return text;
}
