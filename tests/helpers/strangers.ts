/** Attacks on a relay by strangers and guests: connections that never finish a request, and input that is costly to read. */
import { type OwnProcess, runOwnProcess } from "./own_process.ts";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { REQUEST_MAX_BYTES, TEXT_FRAME_MAX_BYTES } from "../../src/protocol/limits.ts";
import { keyProtocol } from "../contract/relay_peer.ts";
import { until } from "./until.ts";

export interface Assault {
  port: number;
  /** A phone's key, which only senders of WebSocket frames have. */
  apiKey: string;
  /** The number of connections or messages. */
  count: number;
  /** How many loopback addresses they come from. */
  addresses: number;
}

export type Result = Record<string, unknown>;

/** How many connections of one address wait for their handshake at a time. */
const AT_ONCE = 50;
/** How often each slow connection sends one more byte, in milliseconds. */
const DRIP_MS = 1_000;

const OPENINGS = ["", "P", "POST /pushes/send HTTP/1.1\r\nHost: x\r\n", slowBody()];

function slowBody(): string {
  return "POST /pairings/x/claim HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{";
}

const addressOf = (n: number, addresses: number): string => `127.0.7.${1 + n % addresses}`;

/** Sends requests that never end: no byte, the first byte, or headers and a body that arrive one byte a second. */
export async function halfOpen({ port, count, addresses }: Assault): Promise<Result> {
  const open = new Set<Socket>();
  let [opened, ended] = [0, 0];
  for (let n = 0; n < count; n++) {
    const socket = connect({ port, host: "127.0.0.1", localAddress: addressOf(n, addresses) });
    socket.on("connect", () => {
      opened++;
      const opening = OPENINGS[n % OPENINGS.length] ?? "";
      if (opening !== "") socket.write(opening);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      ended++;
      open.delete(socket);
    });
    open.add(socket);
    if (n % AT_ONCE === AT_ONCE - 1) await until("connections", () => opened + ended > n - 2 * AT_ONCE);
  }
  await until("every connection", () => [...open].every(({ connecting }) => !connecting));
  setInterval(() => {
    for (const socket of open) socket.write("a");
  }, DRIP_MS);
  return { opened, ended, open: open.size };
}

/** Sends one request after another, each over a new connection, whatever the answer; counts the statuses. */
async function requests({ port, count, addresses }: Assault, request: Uint8Array): Promise<Result> {
  const statuses: Record<string, number> = {};
  let sent = 0;
  const work = async (worker: number): Promise<void> => {
    while (sent < count) {
      sent++;
      const status = await exchange({ port, localAddress: addressOf(worker, addresses) }, request);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, worker) => work(worker)));
  return { statuses };
}

/** Resolves with the answer's status, or `ended`. */
function exchange(place: { port: number; localAddress: string }, request: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ ...place, host: "127.0.0.1" });
    const done = (status: string): void => {
      socket.destroy();
      resolve(status);
    };
    socket.on("connect", () => socket.write(request));
    socket.on("data", (part) => done(/^HTTP\/1\.1 (\d+)/.exec(part.toString("latin1"))?.[1] ?? "other"));
    socket.on("error", () => done("ended"));
    socket.on("close", () => done("ended"));
  });
}

function post(path: string, { headers = "", body }: { headers?: string; body: Uint8Array }): Uint8Array {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}` +
    `Content-Length: ${body.length}\r\n\r\n`;
  return new Uint8Array([...new TextEncoder().encode(head), ...body]);
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const CLAIM = "/pairings/AAAAAAAAAAAAAAAAAAAAAA/claim";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** Sends bodies of the maximum size with maximum nesting. */
export function deepBodies(assault: Assault): Promise<Result> {
  return requests(assault, post(CLAIM, { body: text(nested(REQUEST_MAX_BYTES / 2)) }));
}

/** Sends 10 kB that would unpack to 10 MB. */
export function gzipBombs(assault: Assault): Promise<Result> {
  const body = new Uint8Array(gzipSync(new Uint8Array(10_000_000)));
  return requests(assault, post(CLAIM, { headers: "Content-Encoding: gzip\r\n", body }));
}

/** Sends bodies of 4 MB. */
export function longBodies(assault: Assault): Promise<Result> {
  return requests(assault, post(CLAIM, { body: new Uint8Array(4_000_000) }));
}

/** Sends each frame over a new WebSocket; counts how the relay closed them. */
async function frames(
  { port, count, addresses, apiKey }: Assault,
  frame: Uint8Array,
): Promise<Result> {
  const closes: Record<string, number> = {};
  let sent = 0;
  const work = async (worker: number): Promise<void> => {
    while (sent < count) {
      sent++;
      const code = await sendFrame({ port, localAddress: addressOf(worker, addresses) }, { apiKey, frame });
      closes[code] = (closes[code] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
  return { closes };
}

/** Resolves with the code of the close frame, or `ended`. */
function sendFrame(
  place: { port: number; localAddress: string },
  { apiKey, frame }: { apiKey: string; frame: Uint8Array },
): Promise<string> {
  const handshake = "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
    "Sec-WebSocket-Extensions: permessage-deflate\r\n" +
    `Sec-WebSocket-Protocol: svc.v1, ${keyProtocol(apiKey)}\r\n\r\n`;
  return new Promise((resolve) => {
    const socket = connect({ ...place, host: "127.0.0.1" });
    let seen = "";
    let isSent = false;
    const done = (how: string): void => {
      socket.destroy();
      resolve(how);
    };
    socket.on("connect", () => socket.write(handshake));
    socket.on("data", (part) => {
      seen += part.toString("latin1");
      const end = seen.indexOf("\r\n\r\n");
      if (end < 0) return;
      if (!seen.startsWith("HTTP/1.1 101")) return done(seen.slice(9, 12));
      if (!isSent) {
        isSent = true;
        return void socket.write(frame);
      }
      const close = seen.indexOf("\u0088", end + 4);
      if (close >= 0 && seen.length >= close + 4) {
        done(String(seen.charCodeAt(close + 2) * 256 + seen.charCodeAt(close + 3)));
      }
    });
    socket.on("error", () => done("ended"));
    socket.on("close", () => done("ended"));
  });
}

/** Returns a client's frame, masked with zeros. */
function clientFrame(first: number, payload: Uint8Array): Uint8Array {
  const head = new Uint8Array(14);
  head.set([first, 0x80 | 127]);
  new DataView(head.buffer).setUint32(6, payload.length);
  return new Uint8Array([...head, ...payload]);
}

const TEXT = 0x81;
const COMPRESSED = 0x40;

export function oversizedFrames(assault: Assault): Promise<Result> {
  return frames(assault, clientFrame(TEXT, new Uint8Array(2_000_000).fill(0x20)));
}

/** Far more than one key may send at once. */
const DEEP_FRAMES = 60;

export function deepFrames(assault: Assault): Promise<Result> {
  const frame = clientFrame(TEXT, text(`{"event":"hello","data":${nested(TEXT_FRAME_MAX_BYTES / 2 - 50)}}`));
  const all = new Uint8Array(DEEP_FRAMES * frame.length);
  for (let n = 0; n < DEEP_FRAMES; n++) all.set(frame, n * frame.length);
  return frames(assault, all);
}

/** Sends frames marked as compressed, though the relay offers no compression. */
export function compressedFrames(assault: Assault): Promise<Result> {
  return frames(
    assault,
    clientFrame(TEXT | COMPRESSED, new Uint8Array(gzipSync(new Uint8Array(10_000_000)))),
  );
}

const ASSAULTS = {
  halfOpen,
  deepBodies,
  gzipBombs,
  longBodies,
  oversizedFrames,
  deepFrames,
  compressedFrames,
} satisfies Record<string, (assault: Assault) => Promise<Result>>;
export type AssaultName = keyof typeof ASSAULTS;
export const ASSAULT_NAMES = Object.keys(ASSAULTS) as AssaultName[];

/** Runs the attack in a separate process; open connections stay open until it is disposed of. */
export const startAssault = (name: AssaultName, assault: Assault): OwnProcess<Result> =>
  runOwnProcess(import.meta.url, [name, JSON.stringify(assault)]);

if (import.meta.main) {
  const [name = "", options = "{}"] = Deno.args;
  const result = await ASSAULTS[name as AssaultName](JSON.parse(options));
  await Deno.stdout.write(text(`${JSON.stringify(result)}\n`));
  for await (const _nothing of Deno.stdin.readable);
  Deno.exit(0);
}
