/**
 * `config.json`: reads the settings of this host, with the position of a fault, and changes single fields. Also
 * resolves the relay and the key from the settings, the options and the environment.
 */
import * as z from "zod/mini";
import { withoutMark } from "../async/encodings.ts";
import { errorText } from "../async/error_text.ts";
import { httpBaseFromWs } from "../client/addresses.ts";
import { describeFaults } from "../protocol/errors.ts";
import { HookId } from "../protocol/http.ts";
import { maxLength, minLength } from "../protocol/lengths.ts";
import { UPLOAD_CONFIG_MAX_BYTES } from "../protocol/limits.ts";
import type { Files } from "../runtime/types.ts";
import { readStateText } from "./damage.ts";
import { withLock } from "./lock.ts";
import type { HomePaths } from "./paths.ts";
import { makeHome } from "./permissions.ts";

const WebAddress = z.string().check(z.regex(/^https?:\/\/\S+$/, "an http:// or https:// address"));

/** Where a question is also sent if no one has seen it on a phone. */
export const SecondOutlet = z.object({
  /** The address of an ntfy topic. It gets no text. */
  ntfy: z.optional(WebAddress),
  /** Gets a JSON object. */
  webhook: z.optional(WebAddress),
  /** Seconds from the question until it is sent. */
  afterSeconds: z._default(z.int().check(z.minimum(10), z.maximum(600)), 60),
  /** What cancels it: a phone showed the notification (`shown`), or the question was opened (`seen`). */
  unless: z._default(z.enum(["shown", "seen"]), "seen"),
  /** The webhook also gets the text, sealed for the paired phones. */
  sealed: z.optional(z.boolean()),
}).check(
  z.refine(
    ({ ntfy, webhook }) => (ntfy === undefined) !== (webhook === undefined),
    "exactly one of ntfy and webhook",
  ),
);
export type SecondOutlet = z.infer<typeof SecondOutlet>;

/** Every field may be missing; fields of other versions are kept. */
export const Config = z.looseObject({
  apiKey: z.optional(z.string()),
  /** Names this installation's hooks in every push they send. */
  hookId: z.optional(HookId),
  wsUrl: z.optional(z.string()),
  /** The relay's HTTP address, where it does not follow from `wsUrl`. */
  baseUrl: z.optional(z.string()),
  /** Used for the device id instead of the host name, so that hosts of the same name differ. */
  deviceName: z.optional(z.string().check(minLength(1), maxLength(200))),
  /** The weakest encryption mode that this host accepts. Default: `off` until the first pairing, then `psk`. */
  requireEncryption: z.optional(z.enum(["off", "base", "psk"])),
  /** Allows messages that begin with `!`, which runs a shell command in some agents. */
  allowShellEscape: z.optional(z.boolean()),
  /**
   * What a phone may do in a permission dialog: nothing, reject it with Esc, or type into it. `true` means `once`.
   */
  allowRemoteApproval: z.optional(z.union([z.boolean(), z.enum(["none", "reject", "once", "always"])])),
  /** Case-insensitive regular expressions of requests that no phone may allow, in addition to the built-in ones. */
  neverAllow: z.optional(z.array(z.string().check(z.refine(isPattern, "a regular expression")))),
  /** Types messages while the agent works, even when no hook holds back a dialog that opens meanwhile. */
  steer: z.optional(z.boolean()),
  /** Types into an agent's screen even when its profile does not recognize the composer. */
  allowUnknownScreens: z.optional(z.boolean()),
  /** Slash commands, without the slash, that phones may run in addition to those that change no approval. */
  allowCommands: z.optional(z.array(z.string())),
  /** Lets phones press the keys and run the slash commands that change how an agent asks for approval. */
  allowApprovalChange: z.optional(z.boolean()),
  /** Bytes of the largest file that a paired phone may send; 0 refuses all of them. */
  uploadMaxBytes: z.optional(z.int().check(z.minimum(0), z.maximum(UPLOAD_CONFIG_MAX_BYTES))),
  /** Lets the phone start agents in known projects. */
  allowAgentStart: z.optional(z.boolean()),
  /** Lets the phone end agents that svc started. */
  allowAgentEnd: z.optional(z.boolean()),
  /** Where a question is also sent if no one has seen it on a phone for some time. */
  secondOutlet: z.optional(SecondOutlet),
});
export type Config = z.infer<typeof Config>;

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "iu") instanceof RegExp;
  } catch {
    return false;
  }
}

/** `config.json` is not JSON, or a field is invalid. The message names the file and the position. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** The configuration; `{}` without the file. Throws ConfigError. */
export async function loadConfig(files: Pick<Files, "readText">, paths: HomePaths): Promise<Config> {
  const text = await readStateText(files, paths.config);
  return text === undefined ? {} : parseConfig(withoutMark(text).rest, paths.config);
}

/**
 * Sets the fields that `changes` returns for the current content, removes those that are undefined and keeps all
 * others; one process at a time. Readers see the old or the new file. Throws ConfigError.
 */
export async function saveConfig(
  files: Files,
  paths: HomePaths,
  changes: (before: Config) => Partial<Config>,
): Promise<Config> {
  await makeHome(files, paths);
  return await withLock(files, paths.configLock, {
    busy: () =>
      new Error(`Cannot change "${paths.config}": another svc holds "${paths.configLock}". Try again.`),
    work: async () => {
      const before = await loadConfig(files, paths);
      const config = { ...before, ...changes(before) };
      await files.replaceText(paths.config, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
      return config;
    },
  });
}

/** The host's name at the relay, from which its device id is derived. */
export function deviceNameOf({ deviceName }: Pick<Config, "deviceName">, hostname: string): string {
  return deviceName ?? hostname;
}

function parseConfig(text: string, path: string): Config {
  if (text.trim() === "") {
    throw new ConfigError(
      `Cannot read "${path}": it is empty, or a folder. Remove it, and run svc up again.`,
    );
  }
  const fault = jsonFault(text);
  if (fault !== undefined) {
    throw new ConfigError(
      `Cannot read "${path}": line ${fault.line}, column ${fault.column} is not JSON. Fix it there.`,
    );
  }
  const parsed = Config.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new ConfigError(`Cannot use "${path}": ${describeFaults(parsed.error)}. Fix these fields.`);
}

/** Both count from 1. */
export interface JsonFault {
  line: number;
  column: number;
}

/** Where a text stops being JSON; undefined when it is JSON. V8's message gives the position only for some faults. */
export function jsonFault(text: string): JsonFault | undefined {
  const message = parseMessage(text);
  if (message === undefined) return undefined;
  const before = text.slice(0, faultOffset(text, message)).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

function parseMessage(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

function faultOffset(text: string, message: string): number {
  const named = /at position (\d+)/.exec(message)?.[1];
  if (named !== undefined) return Number(named);
  return isBadToken(message) ? firstBadToken(text) : text.length;
}

function isBadToken(message: string): boolean {
  return message.startsWith("Unexpected token");
}

/** A prefix that ends before the bad token is only incomplete, so the shortest prefix with the fault ends in it. */
function firstBadToken(text: string): number {
  let [good, bad] = [0, text.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isBadToken(parseMessage(text.slice(0, middle)) ?? "")) bad = middle;
    else good = middle;
  }
  return good;
}

export function newHookId(): string {
  return `hook_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
}

/** `hookId` of the configuration, created when it is missing. Throws ConfigError. */
export async function ensureHookId(files: Files, paths: HomePaths): Promise<string> {
  const { hookId } = await loadConfig(files, paths);
  if (hookId !== undefined) return hookId;
  const made = newHookId();
  const saved = await saveConfig(files, paths, (before) => ({ hookId: before.hookId ?? made }));
  return saved.hookId ?? made;
}

type WsUrlSource = "option" | "config" | "environment";

/** The values that the addresses are chosen from. */
export interface AddressInputs {
  /** `--ws-url`, for a single run. */
  option?: string | undefined;
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
}

/** Precedence (docs/specification.md, Environment variables): `--ws-url`, then `wsUrl` in the file, then the deprecated `SVC_WS_URL`. Throws TypeError if that is not a ws or wss URL. */
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

/** The relay's HTTP address for a command: `SVC_BASE_URL`, else the host's. Throws TypeError if it is not an HTTP URL. */
export function resolveBaseUrl(inputs: AddressInputs): string | undefined {
  const { SVC_BASE_URL: named } = inputs.env;
  return named ? checkedBaseUrl(named, "SVC_BASE_URL") : hostBaseUrl(inputs);
}

/**
 * The HTTP address of the relay whose WebSocket the host joins, for the listener and `svc mcp`: never another relay's,
 * because it gets the host's key. It is the file's `baseUrl`; without one, or if the WebSocket address comes from
 * elsewhere, it is derived from the WebSocket's. Throws TypeError if that is not an http or https URL.
 */
export function hostBaseUrl(inputs: AddressInputs): string | undefined {
  const ws = resolveWsUrl(inputs);
  const { baseUrl } = inputs.config;
  if (baseUrl && (ws === undefined || ws.source === "config")) {
    return checkedBaseUrl(baseUrl, "baseUrl in config.json");
  }
  return ws && httpBaseFromWs(ws.url);
}

function checkedBaseUrl(url: string, source: string): string {
  if (/^\w+:\/\/[^/?#]*@/.test(url)) {
    throw new TypeError(
      `Cannot use the relay's address with a user or a password in it (${source}): remove them.`,
    );
  }
  if (isHttpUrl(url)) return url.replace(/\/+$/, "");
  throw new TypeError(
    `Cannot use the relay's address "${url}" (${source}): it must be http://HOST or https://HOST.`,
  );
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** The host names under which a relay on this machine is reached. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

function placeOf(address: string): string {
  const { hostname, port, protocol, pathname } = new URL(address);
  const host = LOOPBACK.test(hostname) ? "localhost" : hostname;
  return `${host}:${port || protocol}${pathname.replace(/\/+$/, "")}`;
}

/** True if the file's key is not for the relay in `SVC_BASE_URL`: another relay, or none, is configured. */
function isOtherRelay(inputs: AddressInputs): boolean {
  const configured = hostBaseUrl(inputs);
  const requested = resolveBaseUrl(inputs);
  if (!inputs.env.SVC_BASE_URL || requested === undefined) return false;
  return configured === undefined || placeOf(configured) !== placeOf(requested);
}

/**
 * The key for commands that a person runs on the host: the file's, then `SVC_API_KEY`, which may only allow sending.
 * For another relay that `SVC_BASE_URL` names, the variable comes first. Throws TypeError as `resolveBaseUrl` does.
 */
export function hostApiKey(inputs: AddressInputs): { key: string; isVariable: boolean } | undefined {
  const { SVC_API_KEY: variable } = inputs.env;
  const { apiKey } = inputs.config;
  if (apiKey && !(variable && isOtherRelay(inputs))) return { key: apiKey, isVariable: false };
  return variable ? { key: variable, isVariable: true } : undefined;
}

/** The key of the listener: the file's, then `SVC_API_KEY`. */
export function listenerApiKey({ config, env }: AddressInputs): string | undefined {
  return config.apiKey || env.SVC_API_KEY || undefined;
}

/** The key of a script such as `svc send`: `SVC_API_KEY`, then the file's. */
export function scriptApiKey({ config, env }: AddressInputs): string | undefined {
  return env.SVC_API_KEY || config.apiKey || undefined;
}
