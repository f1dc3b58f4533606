/** An HTTPS POST to a client's address: never to this machine or a private network, whatever a name resolves to. */
import { lookup } from "node:dns";
import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";

export interface PublicPost {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Ends the request. */
  signal: AbortSignal;
  /** For tests: `http://127.0.0.1:<port>` and the like are allowed too. */
  allowLoopback: boolean;
}

export interface PostAnswer {
  status: number;
  /** Whole seconds. */
  retryAfterSeconds?: number | undefined;
}

/** The address may not be posted to, whatever its name resolves to. */
export class ForbiddenAddress extends Error {
  override readonly name = "ForbiddenAddress";
}

/** Networks that are not the public internet (RFC 6890 and its registry). */
const PRIVATE = new BlockList();
for (
  const [network, bits] of [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 3],
  ] as const
) PRIVATE.addSubnet(network, bits, "ipv4");

/** Global unicast, without the networks in it that embed an IPv4 address or are documentation. */
const PUBLIC_V6 = new BlockList();
PUBLIC_V6.addSubnet("2000::", 3, "ipv6");
const SPECIAL_V6 = new BlockList();
for (
  const [network, bits] of [["2001::", 23], ["2001:db8::", 32], ["2002::", 16], ["3fff::", 20]] as const
) SPECIAL_V6.addSubnet(network, bits, "ipv6");

/** True for an IP address of the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !PRIVATE.check(address, "ipv4");
  return family === 6 && PUBLIC_V6.check(address, "ipv6") && !SPECIAL_V6.check(address, "ipv6");
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

/** What to give instead of this address; undefined if it may be posted to, as far as known before it is resolved. */
export function addressFault(url: string, { allowLoopback }: { allowLoopback: boolean }): string | undefined {
  if (!URL.canParse(url)) return "an https:// address";
  const { protocol, hostname, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (username !== "" || password !== "") return "an address without a user name";
  if (allowLoopback && isLoopback(host) && protocol === "http:") return undefined;
  if (protocol !== "https:") return "an https:// address";
  if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : "an address of the public internet";
  return host.includes(".") && !/\.(local|localhost|internal|home\.arpa)\.?$/i.test(host)
    ? undefined
    : "an address of the public internet";
}

/**
 * Resolves with the answer's status. Throws ForbiddenAddress, the signal's reason, or a network Error; also when the
 * name currently resolves to an address that is not public.
 */
export async function postPublicly(post: PublicPost): Promise<PostAnswer> {
  const fault = addressFault(post.url, post);
  if (fault !== undefined) {
    throw new ForbiddenAddress(`Cannot post to "${URL.parse(post.url)?.host ?? "?"}": give ${fault}`);
  }
  const url = new URL(post.url);
  const send = url.protocol === "https:" ? tlsRequest : plainRequest;
  return await new Promise<PostAnswer>((resolve, reject) => {
    const { signal, body } = post;
    const headers = { ...post.headers, "content-length": String(body.length) };
    const request = send(url, {
      method: "POST",
      headers,
      agent: false,
      ...(url.protocol === "https:" ? { lookup: lookupPublicly() } : {}),
    }, (answer) => {
      resolve({
        status: answer.statusCode ?? 0,
        retryAfterSeconds: retryAfter(answer.headers["retry-after"]),
      });
      // The answer's body is not needed.
      request.destroy();
    });
    const abort = (): void => {
      request.destroy();
      reject(signal.reason);
    };
    request.on("error", reject);
    request.on("close", () => signal.removeEventListener("abort", abort));
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    request.end(body);
  });
}

/**
 * Fails for a name that resolves to a non-public address. The checked address is the one that is connected to, so a
 * name cannot resolve differently in between. The failure may be transient: a captive portal answers for every name.
 */
export function lookupPublicly(resolve: LookupFunction = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "", 0);
      const addresses = Array.isArray(found) ? found : [];
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(new Error(`Cannot post to "${hostname}": its address is not public`), "", 0);
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}
