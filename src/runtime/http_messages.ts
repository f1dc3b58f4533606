/** Converts `node:http` requests to web Requests, and sends web Responses through `node:http`. */

import { Buffer } from "node:buffer";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** Methods that the web's Request cannot have (Fetch, section 2.2.1). */
const FORBIDDEN_METHODS: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

/**
 * Reads a request as a web Request; `too_large` when its body exceeds the limit, `forbidden_method` when a Request
 * cannot have its method, `gone` when the peer disconnected.
 */
export async function readRequest(
  request: IncomingMessage,
  bodyBytes: number,
): Promise<Request | "too_large" | "forbidden_method" | "gone"> {
  const { method = "GET" } = request;
  if (FORBIDDEN_METHODS.has(method)) return "forbidden_method";
  const headers = headersOf(request);
  if (method === "GET" || method === "HEAD") return new Request(urlOf(request), { method, headers });
  const body = await readBody(request, bodyBytes);
  if (typeof body === "string") return body;
  return new Request(urlOf(request), { method, headers, ...(body.length > 0 ? { body } : {}) });
}

/** Uses only the path: a client could forge the other parts to confuse a parser. */
function urlOf(request: IncomingMessage): string {
  const target = request.url ?? "/";
  return `http://relay${target.startsWith("/") ? target : "/*"}`;
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index], rawHeaders[index + 1]];
    if (name !== undefined && value !== undefined) headers.append(name, value);
  }
  return headers;
}

function readBody(
  request: IncomingMessage,
  limit: number,
): Promise<Uint8Array<ArrayBuffer> | "too_large" | "gone"> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.resolve("too_large");
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const take = (part: Buffer): void => {
      bytes += part.length;
      if (bytes <= limit) return void parts.push(part);
      request.off("data", take);
      request.pause();
      resolve("too_large");
    };
    request.on("data", take);
    request.on("end", () => resolve(new Uint8Array(Buffer.concat(parts, bytes))));
    request.on("error", () => resolve("gone"));
    request.on("close", () => resolve("gone"));
  });
}

/** After an answer that ends the connection: how long the rest of the body may pause, and may take. */
const DISCARD_PAUSE_MS = 1_000;
const DISCARD_MS = 10_000;

/** Discards what the peer still sends: closing a socket with unread data resets it, and the peer may lose the answer. */
export async function discardRest(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const pause = setTimeout(resolve, DISCARD_PAUSE_MS);
  const limit = setTimeout(resolve, DISCARD_MS);
  for (const event of ["end", "error", "close"]) request.once(event, () => resolve());
  request.on("data", () => void pause.refresh());
  request.resume();
  await promise;
  clearTimeout(pause);
  clearTimeout(limit);
}

/** How a response is sent. */
export interface Sending {
  /** Ends the connection after the response. */
  close: boolean;
  /** Reserves room for a body that is held until it is sent; returns its release, or undefined if there is no room. */
  reserve(bytes: number): (() => void) | undefined;
  /** Resolves when the next part may be written. */
  mayWrite(): Promise<void>;
  /** A part starts or stops waiting for the peer to read. */
  blocked(isBlocked: boolean): void;
}

/** The most that is written to a connection at once; the next part follows when it has taken this one. */
const PART_BYTES = 65_536;

/** Sends the response as fast as the peer reads. A body of known length is streamed; any other is buffered first. */
export async function writeResponse(
  response: ServerResponse,
  found: Response,
  sending: Sending,
): Promise<void> {
  const headers: Record<string, string | number> = { ...Object.fromEntries(found.headers) };
  if (sending.close) headers["connection"] = "close";
  const hasBody = found.status !== 304 && found.status !== 204 && response.req.method !== "HEAD";
  if (hasBody && found.headers.has("content-length") && found.body !== null) {
    response.writeHead(found.status, headers);
    for await (const part of found.body) if (!await writePart(response, { part, sending })) return;
    return await finish(response);
  }
  const body = new Uint8Array(await found.arrayBuffer());
  const sent = sending.reserve(body.length);
  if (sent === undefined) return;
  try {
    if (hasBody) headers["content-length"] = body.length;
    response.writeHead(found.status, headers);
    for (let at = 0; hasBody && at < body.length; at += PART_BYTES) {
      if (!await writePart(response, { part: body.subarray(at, at + PART_BYTES), sending })) return;
    }
    if (sending.close) await discardRest(response.req);
    await finish(response);
  } finally {
    sent();
  }
}

/** False when the connection ended. */
async function writePart(
  response: ServerResponse,
  { part, sending }: { part: Uint8Array; sending: Sending },
): Promise<boolean> {
  await sending.mayWrite();
  if (response.destroyed || response.closed) return false;
  if (response.write(part)) return true;
  sending.blocked(true);
  await nextOf(response, ["drain", "close"]);
  sending.blocked(false);
  return !response.destroyed && !response.closed;
}

async function finish(response: ServerResponse): Promise<void> {
  if (response.destroyed || response.closed) return;
  const done = nextOf(response, ["finish", "close"]);
  response.end();
  await done;
}

function nextOf(response: ServerResponse, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of events) response.off(event, done);
      resolve();
    };
    for (const event of events) response.on(event, done);
  });
}

/** Writes the refusal of a handshake to the bare connection. */
export async function writeRefusal(stream: Duplex, found: Response): Promise<void> {
  const body = new Uint8Array(await found.arrayBuffer());
  const lines = [`HTTP/1.1 ${found.status} ${STATUS_CODES[found.status] ?? ""}`];
  found.headers.forEach((value, name) => void lines.push(`${name}: ${value}`));
  lines.push(`content-length: ${body.length}`, "connection: close", "", "");
  stream.end(Buffer.concat([Buffer.from(lines.join("\r\n")), body]));
}
