/** System functions of both runtimes: errors, directories, sockets, addresses, shell quoting and complete writes. */
import { utf8Length } from "../async/encodings.ts";
import type { Files } from "./types.ts";

/** A code such as `ENOENT` or `EACCES`; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The result of `work`, or `instead` when it fails with one of `codes`. Throws any other failure. */
export async function unless<T, U>(
  codes: readonly string[],
  work: Promise<T>,
  instead: U,
): Promise<T | U> {
  try {
    return await work;
  } catch (error) {
    if (codes.includes(codeOf(error) ?? "")) return instead;
    throw error;
  }
}

/** There is no file at the path, or a part of the path is not a directory. */
export const MISSING: readonly string[] = ["ENOENT", "ENOTDIR"];

/** There is no socket, its owner is gone, or its owner is just exiting. */
export const NOBODY_LISTENS: readonly string[] = [...MISSING, "ECONNREFUSED", "ECONNRESET"];

/** The pause before writing again to a full pipe or terminal that another process made non-blocking, in milliseconds. */
const RETRY_MS = 1;

/** Writes all of `bytes`. @throws what `write` throws, with code `EPIPE` when the reader is gone. */
export function writeFully(write: (bytes: Uint8Array) => number, bytes: Uint8Array): void {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(writeOrWait(write, rest));
}

/** As `writeFully`, but adds the path to the error, as the system does for its other calls. */
export function writeToFile(
  path: string,
  { write, bytes }: { write(bytes: Uint8Array): number; bytes: Uint8Array },
): void {
  try {
    writeFully(write, bytes);
  } catch (error) {
    if (error instanceof Error) error.message += `: write '${path}'`;
    throw error;
  }
}

function writeOrWait(write: (bytes: Uint8Array) => number, bytes: Uint8Array): number {
  try {
    return write(bytes);
  } catch (error) {
    if (codeOf(error) !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    return 0;
  }
}

/** @throws when HOME is unset or not absolute: guessing could write keys to the wrong place. */
export function homeFrom(home: string | undefined): string {
  if (home?.startsWith("/")) return home;
  throw new Error(
    `cannot find the home directory: HOME is ${
      home === undefined ? "not set" : JSON.stringify(home)
    }; set it to an absolute path`,
  );
}

/** Adds to a failure what helps: on Deno it does not even name the folder. */
export async function inTemporary(
  tmpdir: string | undefined,
  make: (folder: string) => Promise<string>,
): Promise<string> {
  const folder = temporaryFrom(tmpdir);
  try {
    return await make(folder);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Cannot make a temporary folder in "${folder}": ${why}. Set TMPDIR to a folder that this account can write to.`,
      { cause: error },
    );
  }
}

/** The folder that contains the file or folder: "/" for one at the root, "." for a name alone. */
export function folderOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end > 0 ? path.slice(0, end) : end === 0 ? "/" : ".";
}

/** The directory without its trailing slash (macOS sets one in TMPDIR). */
export function temporaryFrom(tmpdir: string | undefined): string {
  return tmpdir?.startsWith("/") ? tmpdir.replace(/(?<=.)\/+$/, "") : "/tmp";
}

/** The longest path in bytes that every system takes (macOS: 104 with its NUL; Linux: 108). */
export const MAX_SOCKET_PATH_BYTES = 103;

/** Only the owner may use a socket. */
export const SOCKET_MODE = 0o600;
/** The umask while a socket is bound; its owner must still be able to enter a folder created at the same moment. */
export const SOCKET_UMASK = 0o077;

/** @throws when the path is too long: the system would cut it or refuse it with a bare EINVAL. */
export function checkSocketPath(path: string): void {
  const bytes = utf8Length(path);
  if (bytes <= MAX_SOCKET_PATH_BYTES) return;
  throw new Error(
    `cannot use the socket path "${path}": it has ${bytes} bytes, the system takes at most ${MAX_SOCKET_PATH_BYTES}; ` +
      `choose a shorter SVC_HOME`,
  );
}

export interface InterfaceAddress {
  /** The interface's name, such as `eth0`. */
  name: string;
  family: string;
  address: string;
}

/** Bridges of containers and virtual machines, which a phone cannot reach. */
const VIRTUAL = /^(docker|br-|veth|virbr|podman|cni)/;

/** The first IPv4 address that is not loopback and not on a virtual interface. */
export function lanAddressAmong(addresses: readonly InterfaceAddress[]): string | undefined {
  return addresses.find(({ name, family, address }) =>
    family === "IPv4" && !address.startsWith("127.") && !VIRTUAL.test(name)
  )?.address;
}

/** The argument in single quotes, as one word of a POSIX shell. */
export function shellQuote(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** Splits a shell command line into words without their quotes and backslashes; nothing is expanded. */
export function shellWords(line: string): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? [];
  return words.map((word) => {
    const parts = word.matchAll(/'([^']*)'|"([^"]*)"|\\(.)|([^'"\\]+)/g);
    return Array.from(parts, (part) => part.slice(1).join("")).join("");
  });
}

/** A command line to paste into a shell, with quotes only where they are needed. */
export function shellLine(argv: readonly string[]): string {
  return argv.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word)).join(" ");
}

const inBothCases = (names: readonly string[]): string[] =>
  names.flatMap((name) => [name, name.toLowerCase()]);

/** Variables that name a proxy; the value may contain a password. */
export const PROXY_VARIABLES = inBothCases(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]);

export function hasProxy(env: Readonly<Record<string, string | undefined>>): boolean {
  return PROXY_VARIABLES.some((name) => env[name]);
}

/** Variables that name the hosts which are reached without a proxy. */
const DIRECT_VARIABLES = inBothCases(["NO_PROXY"]);

/** All variables about proxies that are in the environment. */
export function proxyVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const set = [...PROXY_VARIABLES, ...DIRECT_VARIABLES].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(set);
}

/**
 * The environment as the user set it. The runtimes read NO_PROXY whenever they connect, so svc's own value has to stay
 * there: `keep` hides it, because agents get theirs from here.
 */
export class UserEnvironment {
  readonly #raw: { get(name: string): string | undefined; all(): Record<string, string> };
  #own: Record<string, string> | undefined;

  constructor(raw: { get(name: string): string | undefined; all(): Record<string, string> }) {
    this.#raw = raw;
  }

  /** `own`: the variables as the user set them. */
  keep(own: Readonly<Record<string, string>>): void {
    this.#own = Object.fromEntries(Object.entries(own).filter(([name]) => DIRECT_VARIABLES.includes(name)));
  }

  get(name: string): string | undefined {
    if (this.#own !== undefined && DIRECT_VARIABLES.includes(name)) return this.#own[name];
    return this.#raw.get(name);
  }

  all(): Record<string, string> {
    const all = this.#raw.all();
    if (this.#own === undefined) return all;
    const others = Object.entries(all).filter(([name]) => !DIRECT_VARIABLES.includes(name));
    return { ...Object.fromEntries(others), ...this.#own };
  }
}

/** Deno takes the network, Node only single addresses. */
const THIS_MACHINE = ["localhost", "127.0.0.0/8", "127.0.0.1", "0.0.0.0", "::1", "[::1]", "::", "[::]"];

/**
 * The hosts to reach directly, and this machine at each of its addresses: a proxy elsewhere cannot reach its relay, and
 * would see its key.
 */
export function directHosts(
  env: Readonly<Record<string, string | undefined>>,
  addresses: readonly string[],
): string {
  const own = (env["no_proxy"] || env["NO_PROXY"] || "").trim();
  if (own === "*") return own;
  const local = addresses.flatMap((address) => address.includes(":") ? [address, `[${address}]`] : [address]);
  return [...new Set([...own === "" ? [] : [own], ...THIS_MACHINE, ...local])].join(",");
}

/**
 * The proxies of an environment as the variables that Node takes; undefined if it names none that Node can use. An
 * address may come without its scheme. SOCKS proxies are ignored.
 */
export function nodeProxies(
  env: Readonly<Record<string, string | undefined>>,
  addresses: readonly string[],
): Record<string, string> | undefined {
  const named = (name: string): string | undefined => proxyAddress(env[name] || env[name.toUpperCase()]);
  const all = named("all_proxy");
  const [http, https] = [named("http_proxy") ?? all, named("https_proxy") ?? all];
  if (http === undefined && https === undefined) return undefined;
  return {
    ...(http === undefined ? {} : { http_proxy: http }),
    ...(https === undefined ? {} : { https_proxy: https }),
    no_proxy: directHosts(env, addresses),
  };
}

function proxyAddress(value = ""): string | undefined {
  const text = value.trim();
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  return /^https?:/i.test(address) && URL.canParse(address) ? address : undefined;
}

/** Variables that name certificates which the runtimes trust in addition to their own. */
export const CERTIFICATE_FILES = ["DENO_CERT", "NODE_EXTRA_CA_CERTS"];

/** The variables that a process may need to reach the relay: proxies and certificates. */
export const NETWORK_VARIABLES = [
  ...PROXY_VARIABLES,
  ...DIRECT_VARIABLES,
  ...["NODE_USE_ENV_PROXY", ...CERTIFICATE_FILES, "DENO_TLS_CA_STORE", "NODE_USE_SYSTEM_CA"],
];

/** The oldest Node that svc runs on: before it, SQLite has no backup, or needs a flag. */
export const OLDEST_NODE = "22.16";

/** Why svc does not run on this version of Node, such as `20.20.2`; undefined when it does. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = numbersOf(version);
  const [oldest = 0, least = 0] = numbersOf(OLDEST_NODE);
  if (major > oldest || (major === oldest && minor >= least)) return undefined;
  return `svc needs Node ${OLDEST_NODE} or newer; this is Node ${version}. Install a newer one, for example from https://nodejs.org, and run svc again.`;
}

function numbersOf(version: string): number[] {
  return version.split(".").map(Number);
}

/** The asset of a single program that lists the others, as JSON. */
export const EMBEDDED_NAMES = "names.json";

/** False if another account owns the socket's folder, or a link to it, and so might be the one that listens there. */
export async function isInOwnFolder(
  path: string,
  { files, uid }: { files: Pick<Files, "info" | "entryInfo">; uid: number },
): Promise<boolean> {
  const folder = folderOf(path);
  return await files.info(folder) !== undefined && await strangerAt(folder, { files, uid }) === undefined;
}

const ROOT = 0;

/**
 * The uid of another account that owns the folder or a symbolic link in its place. Links that root owns are accepted.
 * Undefined if there is no folder.
 */
export async function strangerAt(
  folder: string,
  { files, uid }: { files: Pick<Files, "info" | "entryInfo">; uid: number },
): Promise<number | undefined> {
  const [entry, behind] = await Promise.all([files.entryInfo(folder), files.info(folder)]);
  if (entry === undefined || behind === undefined) return undefined;
  if (entry.uid !== uid && entry.uid !== ROOT) return entry.uid;
  return behind.uid === uid ? undefined : behind.uid;
}
