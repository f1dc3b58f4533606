/** Stands in for a browser and its vendor's push service: a subscription, and messages opened according to RFC 8291. */
import assert from "node:assert/strict";
import { decodeBase64url, encodeBase64url } from "../../src/async/encodings.ts";
import { WebPushPayload, type WebPushSubscription } from "../../src/protocol/web_push.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const SALT_BYTES = 16;
const HEADER_BYTES = 21;
const encoder = new TextEncoder();

/** A browser's side of a subscription. */
export interface Subscriber {
  subscription: WebPushSubscription;
  privateKey: CryptoKey;
}

export async function makeSubscriber(endpoint = "https://push.example/x"): Promise<Subscriber> {
  const params = { name: "ECDH", namedCurve: "P-256" };
  const { publicKey, privateKey } = await crypto.subtle.generateKey(params, false, ["deriveBits"]);
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  const auth = encodeBase64url(crypto.getRandomValues(new Uint8Array(16)));
  return { subscription: { endpoint, keys: { p256dh: encodeBase64url(point), auth } }, privateKey };
}

/** A well-formed subscription, for tests that open no message. */
export const SUBSCRIPTION: WebPushSubscription = {
  endpoint: "https://push.example/x",
  keys: {
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  },
};

/** Resolves with the relay's payload in a message for the subscriber. */
export async function openMessage(body: Uint8Array, subscriber: Subscriber): Promise<WebPushPayload> {
  return WebPushPayload.parse(JSON.parse(await openText(body, subscriber)));
}

/** Opens a message (RFC 8291, section 3, and RFC 8188): throws unless it was encrypted for the subscriber. */
export async function openText(
  body: Uint8Array,
  { subscription: { keys }, privateKey }: Subscriber,
): Promise<string> {
  const message = new Uint8Array(body);
  const salt = message.slice(0, SALT_BYTES);
  const idLength = message[HEADER_BYTES - 1] ?? 0;
  const senderPoint = message.slice(HEADER_BYTES, HEADER_BYTES + idLength);
  const record = message.slice(HEADER_BYTES + idLength);
  assert.ok(message.length <= 4_096, "a vendor takes no more than 4,096 bytes");
  const ownPoint = decodeBase64url(keys.p256dh) ?? new Uint8Array();
  const sender = await crypto.subtle.importKey("raw", senderPoint, P256, false, []);
  const shared = await crypto.subtle.deriveBits({ name: "ECDH", public: sender }, privateKey, 256);
  const info = join(encoder.encode("WebPush: info\0"), ownPoint, senderPoint);
  const secret = await hkdf(new Uint8Array(shared), {
    salt: decodeBase64url(keys.auth) ?? new Uint8Array(),
    info,
    bytes: 32,
  });
  const of = (name: string, bytes: number): Promise<Bytes> =>
    hkdf(secret, { salt, info: encoder.encode(`Content-Encoding: ${name}\0`), bytes });
  const key = await crypto.subtle.importKey("raw", await of("aes128gcm", 16), "AES-GCM", false, ["decrypt"]);
  const iv = await of("nonce", 12);
  const padded = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, record));
  const end = padded.lastIndexOf(2);
  assert.ok(padded.subarray(end + 1).every((byte) => byte === 0), "the padding is zeros");
  return new TextDecoder().decode(padded.subarray(0, end));
}

/** Returns the claims of the message's token, after checking its signature (RFC 8292). */
export async function openToken(
  headers: Readonly<Record<string, string>>,
): Promise<{ publicKey: string; claims: Record<string, unknown> }> {
  const [, token = "", publicKey = ""] = /^vapid t=([^,]+), ?k=(.+)$/.exec(headers["authorization"] ?? "") ??
    [];
  const [head = "", claims = "", signature = ""] = token.split(".");
  const point = decodeBase64url(publicKey) ?? new Uint8Array();
  const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", point, ecdsa, false, ["verify"]);
  const signed = encoder.encode(`${head}.${claims}`);
  const isSigned = await crypto.subtle.verify(
    ecdsa,
    key,
    decodeBase64url(signature) ?? new Uint8Array(),
    signed,
  );
  assert.ok(isSigned, "the token is signed with the key that it names");
  return { publicKey, claims: JSON.parse(new TextDecoder().decode(decodeBase64url(claims))) };
}

export interface VendorMessage {
  /** When the message arrived, in epoch milliseconds. */
  at: number;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** A push service on this machine. */
export class PushVendor implements AsyncDisposable {
  readonly messages: VendorMessage[] = [];
  /** The answers to the next messages; after these, 201. */
  readonly answers: { status: number; retryAfter?: string }[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => undefined };
    this.#server = Deno.serve(options, async (request) => {
      const body = new Uint8Array(await request.arrayBuffer());
      const headers = Object.fromEntries(request.headers);
      this.messages.push({ at: Date.now(), path: new URL(request.url).pathname, headers, body });
      const { status, retryAfter } = this.answers.shift() ?? { status: 201 };
      return new Response(null, { status, headers: retryAfter ? { "retry-after": retryAfter } : {} });
    });
  }

  /** Subscribes the browser of one phone. */
  subscribe(path: string): Promise<Subscriber> {
    return makeSubscriber(`http://127.0.0.1:${this.#server.addr.port}/${path}`);
  }

  /** Returns what a subscriber was sent, opened, in order. */
  async sentTo(subscriber: Subscriber): Promise<WebPushPayload[]> {
    const { pathname } = new URL(subscriber.subscription.endpoint);
    const own = this.messages.filter(({ path }) => path === pathname);
    return await Promise.all(own.map(({ body }) => openMessage(body, subscriber)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

const P256 = { name: "ECDH", namedCurve: "P-256" };

async function hkdf(
  secret: Bytes,
  { salt, info, bytes }: { salt: Bytes; info: Bytes; bytes: number },
): Promise<Bytes> {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const params = { name: "HKDF", hash: "SHA-256", salt, info };
  return new Uint8Array(await crypto.subtle.deriveBits(params, key, bytes * 8));
}

function join(...parts: Bytes[]): Bytes {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}
