/** The connection to NATS, the same on both runtimes: it reconnects for ever and notices a server that hangs. */
import { connect, credsAuthenticator, type NatsConnection } from "@nats-io/transport-node";
import { encodeUtf8 } from "../async/encodings.ts";
import type { NatsAddress } from "./nats_address.ts";

const CONNECT_MS = 5_000;
const RECONNECT_MS = 100;
/** Two unanswered pings end a connection: a server that was stopped, or cut off, does not close it. */
const PING_MS = 2_000;
const PINGS_UNANSWERED = 2;

const PREFIX_FORM = /^[A-Za-z0-9_-]{1,32}$/;

interface ConnectOptions {
  /** What the server's monitoring calls this connection. */
  name: string;
  /** Does not receive what it publishes itself. */
  noEcho?: boolean;
}

/** Rejects when no server answers. */
export async function connectNats(address: NatsAddress, options: ConnectOptions): Promise<NatsConnection> {
  const { servers, credentials, ca, prefix } = address;
  if (!PREFIX_FORM.test(prefix)) {
    throw new TypeError(
      `Cannot use the prefix "${prefix}" for NATS: a prefix has 1 to 32 characters from A-Z a-z 0-9 _ -`,
    );
  }
  return await connect({
    ...options,
    servers: [...servers],
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: PINGS_UNANSWERED,
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(encodeUtf8(credentials)) }),
    ...(ca === undefined ? {} : { tls: { ca } }),
  });
}

const PLAIN = /[A-Za-z0-9_-]/;

/** A name as one token of a subject: what has a meaning there (`.`, `*`, `>`, a space) is written as `=` and its code. */
export function subjectToken(name: string): string {
  const token = [...name].map((one) => PLAIN.test(one) ? one : `=${one.codePointAt(0)?.toString(16)}=`);
  return name === "" ? "=" : token.join("");
}

/** The name that `subjectToken` wrote. */
export function subjectName(token: string): string {
  if (token === "=") return "";
  return token.replace(/=([0-9a-f]+)=/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16)));
}
