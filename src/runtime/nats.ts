/** The connection to NATS, the same on both runtimes: it reconnects forever and detects a server that hangs. */
import type { Socket } from "node:net";
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from "node:tls";
import {
  type Authenticator,
  AuthorizationError,
  ConnectionError,
  credsAuthenticator,
  InvalidArgumentError,
  type NatsConnection,
  NatsConnectionImpl,
  nkeyAuthenticator,
  setTransportFactory,
  UserAuthenticationExpiredError,
} from "@nats-io/transport-node";
import { nodeResolveHost, NodeTransport } from "@nats-io/transport-node/lib/node_transport.js";
import { encodeUtf8 } from "../async/encodings.ts";
import { errorText } from "../async/error_text.ts";
import type { NatsAddress } from "./nats_address.ts";

const CONNECT_MS = 5_000;
const RECONNECT_MS = 100;
/** Two unanswered pings end a connection, because a suspended or unreachable server does not close it. */
const PING_MS = 2_000;
const PINGS_UNANSWERED = 2;

/** NATS's default, enough for svc's messages while an account has fewer than about a thousand devices. */
const PAYLOAD_MIN_BYTES = 1_048_576;

const PREFIX_FORM = /^[A-Za-z0-9_-]{1,32}$/;

interface ConnectOptions {
  /** The connection's name in the server's monitoring. */
  name: string;
  /** Does not receive what it publishes itself. */
  noEcho?: boolean;
}

/** Rejects when no server answers, with TypeError for an unusable address; `connectionFault` explains the error. */
export async function connectNats(address: NatsAddress, options: ConnectOptions): Promise<NatsConnection> {
  const { servers, credentials, ca, prefix } = address;
  if (!PREFIX_FORM.test(prefix)) {
    throw new TypeError(
      `Cannot use the prefix "${prefix}" for NATS: a prefix has 1 to 32 characters from A-Z a-z 0-9 _ -`,
    );
  }
  setTransportFactory({ factory: () => new SafeTransport(), dnsResolveFn: nodeResolveHost });
  const connection = await NatsConnectionImpl.connect({
    ...options,
    servers: [...servers],
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: PINGS_UNANSWERED,
    // A server that is being set up again may refuse this user for a moment.
    ignoreAuthErrorAbort: true,
    ...(credentials === undefined ? {} : { authenticator: authenticatorOf(credentials) }),
    ...(ca === undefined && !servers.some(isTls) ? {} : { tls: tlsOf(address) }),
  });
  const fault = payloadFault(connection);
  if (fault === undefined) return connection;
  await connection.close();
  throw new RangeError(fault);
}

/**
 * The client removes every listener from a socket before its `error` is emitted, which a tick of the runtime may delay.
 * An error without a listener ends the process, so a server that refuses credentials would end a relay.
 */
class SafeTransport extends NodeTransport {
  override async dial(address: Parameters<NodeTransport["dial"]>[0]): Promise<Socket> {
    return keepErrorListener(await super.dial(address));
  }

  override async startTLS(): Promise<TLSSocket> {
    return keepErrorListener(await super.startTLS());
  }
}

/** Keeps an `error` listener on the socket. The client learns of errors from `close`, or no longer uses the socket. */
function keepErrorListener<S extends Socket>(socket: S): S {
  const removeAll = socket.removeAllListeners.bind(socket);
  const listen = (): S => socket.on("error", () => {});
  socket.removeAllListeners = (...event: [(string | symbol)?]) => {
    removeAll(...event);
    return listen();
  };
  return listen();
}

/** The longest message that the connected server accepts, in bytes. */
export function payloadBytes({ info }: NatsConnection): number {
  return info?.max_payload ?? PAYLOAD_MIN_BYTES;
}

/** Why the connected server's message limit is too low, or undefined; the limit may change with its configuration. */
export function payloadFault(connection: NatsConnection): string | undefined {
  const most = payloadBytes(connection);
  if (most >= PAYLOAD_MIN_BYTES) return undefined;
  return `it takes messages of up to ${most} bytes, and those of svc have up to ${PAYLOAD_MIN_BYTES}: ` +
    "set max_payload to 1MB or more in the configuration of each NATS server";
}

/** A user's seed alone, as `nk -gen user` writes it. */
const SEED_FORM = /^\s*(SU[A-Z2-7]+)\s*$/;

function authenticatorOf(credentials: string): Authenticator {
  const seed = SEED_FORM.exec(credentials)?.[1];
  if (seed !== undefined) return nkeyAuthenticator(encodeUtf8(seed));
  if (!/BEGIN NATS USER JWT[\s\S]*BEGIN USER NKEY SEED/.test(credentials)) {
    throw new TypeError(
      "Cannot use the file of --nats-creds: it has neither a user's credentials, as nsc writes them, nor an nkey seed",
    );
  }
  return credsAuthenticator(encodeUtf8(credentials));
}

function isTls(server: string): boolean {
  return server.startsWith("tls://");
}

/** The client passes no name for a server addressed by IP: its certificate must then name one of the servers. */
function tlsOf({ servers, ca }: NatsAddress) {
  const hosts = servers.map((server) => new URL(server.replace(/^\w+:/, "http:")).hostname)
    .map((host) => host.replace(/^\[|\]$/g, ""));
  const check = (asked: string, certificate: PeerCertificate): Error | undefined => {
    const fault = checkServerIdentity(asked, certificate);
    const isNamed = hosts.some((host) => checkServerIdentity(host, certificate) === undefined);
    return isNamed ? undefined : fault;
  };
  return { ...(ca === undefined ? {} : { ca }), checkServerIdentity: check };
}

const UNKNOWN_AUTHORITY = [
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
];

/** Why a connection failed, and what would help. */
export function connectionFault(error: unknown, { credentials, ca }: NatsAddress): string {
  if (error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError) {
    return credentials === undefined
      ? "it wants credentials: name the user's file with --nats-creds"
      : "it refused the credentials: name the file of a user that it knows with --nats-creds";
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (UNKNOWN_AUTHORITY.includes(code)) {
    return ca === undefined
      ? "no authority known here signed its certificate: name the authority's certificate with --nats-ca"
      : "the authority of --nats-ca did not sign its certificate: name the one that did";
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return "its certificate names none of these servers: give --nats names that are in it";
  }
  if (error instanceof ConnectionError && error.message.includes("'tls'")) {
    const plain = ca === undefined ? "name it with nats://" : "leave --nats-ca out";
    return `it has no TLS: ${plain}, or give it a certificate`;
  }
  return errorText(error);
}

/** Why a request failed, and what would help. */
export function requestFault(error: unknown): string {
  const text = errorText(error);
  if (error instanceof InvalidArgumentError && text.includes("max_payload")) {
    return "the message is too long for it; raise max_payload in the configuration of each NATS server";
  }
  return text === "jetstream is not enabled"
    ? "JetStream is not enabled: start NATS with the option -js, or with jetstream {} in its configuration"
    : text;
}

const PLAIN = /[A-Za-z0-9_-]/;

/** Encodes a name as one token of a subject: special characters (`.`, `*`, `>`, a space, …) become `=<code point>=`. */
export function subjectToken(name: string): string {
  const token = [...name].map((one) => PLAIN.test(one) ? one : `=${one.codePointAt(0)?.toString(16)}=`);
  return name === "" ? "=" : token.join("");
}

/** Decodes a token made by `subjectToken`. */
export function subjectName(token: string): string {
  if (token === "=") return "";
  return token.replace(/=([0-9a-f]+)=/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16)));
}
