/** A bounded HTTP and WebSocket server on `node:http` and `ws`, for both runtimes. Refuses before any upgrade. */

import { Buffer } from "node:buffer";
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { discardRest, readRequest, writeRefusal, writeResponse } from "./http_messages.ts";
import { PlainConnections, type PlainLimit, type Turn } from "./plain_connections.ts";

/** A WebSocket as its owner may use it. */
export interface ServerSocket {
  send(data: string | Uint8Array): void;
  ping(): void;
  close(code: number, reason: string): void;
  /** Stops reading, for a socket that is about to end. */
  pause(): void;
  /** Ends the connection at once and drops unsent data. */
  terminate(): void;
  bufferedBytes(): number;
  /** Bytes received of an incomplete message, which are held in memory. */
  unfinishedBytes(): number;
}

export interface SocketHandlers {
  text(text: string): void;
  bytes(bytes: Uint8Array): void;
  /** The peer answered a ping or sent one. */
  alive(): void;
  /** More of a long, incomplete message has arrived. */
  unfinished?(): void;
  closed(code: number): void;
}

/** The client of a request. */
export interface Peer {
  /** IP address of the connection's other end. */
  address: string;
}

/** Takes the socket of an accepted handshake. */
export type OpenSocket = (socket: ServerSocket) => SocketHandlers;

/** A refusal that is cheap to send. */
export interface EarlyAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A request that will be read. */
export interface Admitted {
  /**
   * Called when the whole request has arrived; resolves when it may be handled. The result is a refusal, or a function
   * that is called when the answer may be sent and again at its end.
   */
  begin(): Begun | Promise<Begun>;
}

export type Begun = (() => void) | EarlyAnswer;

export interface HttpServerOptions {
  hostname: string;
  /** 0 picks a free port. */
  port: number;
  /** PEM texts. */
  tls?: { cert: string; key: string } | undefined;
  limits: HttpServerLimits;
  /** The only subprotocol, selected when a client offers it. */
  subprotocol: string;
  /** Called with a request's headers: answers it without reading its body, or admits it. */
  admit?(request: IncomingMessage): EarlyAnswer | Promise<EarlyAnswer> | Admitted;
  fetch(request: Request, peer: Peer): Response | Promise<Response>;
  /** Answers a handshake with a refusal, or with the function that takes the socket. */
  upgrade(request: Request, peer: Peer): Promise<Response | OpenSocket>;
  /** The answer to a body over `bodyBytes`, or to headers over `headerBytes`. */
  tooLarge(what: "body" | "headers"): Response;
  /** The answer to a method that a web Request cannot have. */
  forbiddenMethod(): Response;
  /** The answer after an error that no handler caught. */
  failed(error: unknown): Response;
  /** Addresses of proxies, which are exempt from limits by address. */
  proxies?: readonly string[] | undefined;
  /** Called when this limit ended or refused a connection. */
  over?: ((limit: PlainLimit) => void) | undefined;
}

export interface HttpServerLimits {
  bodyBytes: number;
  textFrameBytes: number;
  binaryFrameBytes: number;
  headerBytes: number;
  /** Time allowed for a request's headers, and for the whole request. */
  headersMs: number;
  requestMs: number;
  keepAliveMs: number;
  /** Connections other than WebSockets; beyond this, the longest idle one is dropped, or one that does not read. */
  plainConnections: number;
  /** The same limit for one address. */
  connectionsPerAddress: number;
  /** Bytes of answers that one address may leave unread. */
  unsentBytesPerAddress: number;
}

export interface HttpServer {
  hostname: string;
  port: number;
  /** Stops accepting and waits at most `graceMs` for pending requests. WebSockets are left to their owner. */
  stop(graceMs: number): Promise<void>;
}

/** How often the time limits of headers and requests are checked. */
const TIME_CHECK_MS = 1_000;
const TOO_BIG = 1009;
/** How long a peer has to read why its headers were refused. */
const REFUSAL_READ_MS = 1_000;

/** Resolves once the server accepts connections; rejects when it cannot bind the address. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer(options);
  const { plainConnections, requestMs, ...limits } = options.limits;
  const plain = new PlainConnections({
    connections: plainConnections,
    connectionsPerAddress: limits.connectionsPerAddress,
    unsentBytesPerAddress: limits.unsentBytesPerAddress,
    exempt: options.proxies,
    stuckMs: requestMs,
    elapsed: () => performance.now(),
    over: options.over,
  });
  server.on("connection", (socket: Socket) => plain.add(socket));
  server.on("request", (request, response) => {
    const turn = plain.take(request.socket);
    if (turn !== undefined) void answer({ request, response, options }, turn);
  });
  const refused = new WeakSet<Duplex>();
  server.on("clientError", (error, socket) => {
    if (refused.has(socket)) return;
    if (!isHeaderOverflow(error) || !plain.isIdle(socket as Socket)) return void socket.destroy();
    refused.add(socket);
    void refuseHeaders(socket, options.tooLarge("headers"));
  });
  serveSockets(server, { plain, options });
  await listen(server, options);
  keepAccepting(server);
  const { port } = server.address() as AddressInfo;
  return {
    hostname: options.hostname,
    port,
    stop: (graceMs) => {
      plain.close();
      return stop(server, graceMs);
    },
  };
}

const isHeaderOverflow = (error: Error): boolean => "code" in error && error.code === "HPE_HEADER_OVERFLOW";

/** A browser sends the cookies of every program on this machine: its user should learn why the request fails. */
async function refuseHeaders(stream: Duplex, answer: Response): Promise<void> {
  stream.on("error", () => stream.destroy());
  stream.pause();
  // Closing a socket with unread data resets it, and the peer may lose the answer.
  const timer = setTimeout(() => stream.destroy(), REFUSAL_READ_MS);
  stream.once("close", () => clearTimeout(timer));
  await writeRefusal(stream, answer);
}

function createServer({ limits, tls }: HttpServerOptions): Server {
  const settings: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: TIME_CHECK_MS,
    noDelay: true,
    // Any other upgrade is declined by the answer to the request (RFC 9110, section 7.8): Java's client offers h2c.
    shouldUpgradeCallback: offersWebSocket,
  };
  // A connection is not read until its turn comes: PlainConnections.add resumes it.
  if (tls === undefined) return Object.assign(createPlainServer(settings), { pauseOnConnect: true });
  return createTlsServer({ ...settings, ...tls, handshakeTimeout: limits.headersMs });
}

function offersWebSocket({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return /^websocket$/i.test(headers.upgrade ?? "");
}

function listen(server: Server, { port, hostname }: HttpServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  options: HttpServerOptions;
}

async function answer(exchange: Exchange, turn: Turn): Promise<void> {
  try {
    if (await turn.begin()) await answerTurn(exchange, turn);
  } finally {
    turn.end();
  }
}

async function answerTurn(exchange: Exchange, turn: Turn): Promise<void> {
  const { request, response, options } = exchange;
  const { reserve, blocked } = turn;
  let answered: (() => void) | undefined;
  // From the first write on, the admission does not depend on how fast the peer reads.
  const mayWrite = (): Promise<void> => turn.mayWrite().then(answered);
  try {
    const admitted = options.admit?.(request);
    if (admitted !== undefined && !("begin" in admitted)) return await writeEarly(exchange, admitted);
    const read = await readRequest(request, options.limits.bodyBytes);
    if (read === "gone") return;
    const begun = await admitted?.begin();
    if (begun !== undefined && "status" in begun) return await writeEarly(exchange, begun);
    // Not earlier: a peer that sends slowly, or waits for its turn, counts as idle.
    turn.working();
    answered = begun;
    const found = read instanceof Request
      ? await options.fetch(read, peerOf(request))
      : refusalOf(read, options);
    await writeResponse(response, found, { close: !(read instanceof Request), reserve, mayWrite, blocked });
  } catch (error) {
    const failed = options.failed(error);
    if (response.headersSent) response.destroy();
    else await writeResponse(response, failed, { close: true, reserve, mayWrite, blocked });
  } finally {
    answered?.();
  }
}

/** Discards the body; one that is too long ends the connection. */
async function writeEarly(
  { request, response, options }: Exchange,
  early: EarlyAnswer | Promise<EarlyAnswer>,
): Promise<void> {
  const isLong = !(Number(request.headers["content-length"] ?? 0) <= options.limits.bodyBytes) ||
    request.headers["transfer-encoding"] !== undefined;
  const { status, headers, body } = early instanceof Promise ? await early : early;
  if (response.destroyed) return;
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, {
    ...headers,
    "content-length": length,
    ...(isLong ? { connection: "close" } : {}),
  });
  if (isLong) {
    response.write(body);
    await discardRest(request);
    return void response.end();
  }
  request.resume();
  response.end(body);
}

function refusalOf(read: "too_large" | "forbidden_method" | "gone", options: HttpServerOptions): Response {
  return read === "forbidden_method" ? options.forbiddenMethod() : options.tooLarge("body");
}

const peerOf = (request: IncomingMessage): Peer => ({ address: request.socket.remoteAddress ?? "" });

interface SocketService {
  plain: PlainConnections;
  options: HttpServerOptions;
}

function serveSockets(server: Server, { plain, options }: SocketService): void {
  const { limits, subprotocol } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: Math.max(limits.textFrameBytes, limits.binaryFrameBytes),
    handleProtocols: (offered) => offered.has(subprotocol) ? subprotocol : false,
  });
  server.on("upgrade", async (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on("error", () => stream.destroy());
    const decision = await decide(request, options);
    if (decision instanceof Response) return await writeRefusal(stream, decision);
    plain.remove(request.socket);
    sockets.handleUpgrade(
      request,
      stream,
      head,
      (socket) => attach(socket, { open: decision, limits, stream }),
    );
  });
}

/** Node before 22.21 and 24.9 takes every Upgrade header for an upgrade, and leaves the request's body unread. */
const OTHER_PROTOCOL =
  "This relay's Node cannot decline the offer of another protocol: leave out the Upgrade header, or run the relay on Node 22.21, 24.9 or newer.\n";

async function decide(request: IncomingMessage, options: HttpServerOptions): Promise<Response | OpenSocket> {
  if (!offersWebSocket(request)) return new Response(OTHER_PROTOCOL, { status: 400 });
  try {
    const read = await readRequest(request, 0);
    return read instanceof Request ? await options.upgrade(read, peerOf(request)) : refusalOf(read, options);
  } catch (error) {
    return options.failed(error);
  }
}

/** Shorter incomplete messages are not reported. */
const UNFINISHED_NOTICED_BYTES = 65_536;
/** The length of a client's control frame without its data (RFC 6455, section 5.2). */
const CONTROL_FRAME_BYTES = 6;

function attach(
  socket: WebSocket,
  { open, limits, stream }: { open: OpenSocket; limits: HttpServerLimits; stream: Duplex },
): void {
  let received = 0;
  let finished = 0;
  const unfinishedBytes = (): number => Math.max(0, received - finished);
  const handlers = open({
    send: (data) => socket.send(data),
    ping: () => socket.ping(),
    close: (code, reason) => socket.close(code, reason),
    pause: () => socket.pause(),
    terminate: () => socket.terminate(),
    bufferedBytes: () => socket.bufferedAmount,
    unfinishedBytes,
  });
  // Counted before the socket's own listener parses the chunk.
  stream.prependListener("data", (chunk: Buffer) => received += chunk.length);
  stream.on("data", () => {
    if (unfinishedBytes() > UNFINISHED_NOTICED_BYTES) handlers.unfinished?.();
  });
  socket.on("message", (data: RawData, isBinary) => {
    finished = received;
    const bytes = data as Buffer;
    if (isBinary) handlers.bytes(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
    else if (bytes.length > limits.textFrameBytes) socket.close(TOO_BIG, "text frame too large");
    else handlers.text(bytes.toString("utf8"));
  });
  const alive = (data: Buffer): void => {
    finished += CONTROL_FRAME_BYTES + data.length;
    handlers.alive();
  };
  socket.on("pong", alive);
  socket.on("ping", alive);
  socket.on("close", (code) => handlers.closed(code));
  // A fault of the peer also closes the socket, which "close" reports.
  socket.on("error", () => undefined);
}

/** How often the server is made to listen again, in milliseconds. */
const AGAIN_MS = 1_000;
const BACKLOG = 511;

/**
 * Keeps a server accepting: Deno stops for good once the process has run out of file descriptors, so the server is made
 * to listen again and again until it closes. Node recovers by itself.
 */
function keepAccepting(server: Server): void {
  if (!("Deno" in globalThis)) return;
  const timer = setInterval(() => listenAgain(server), AGAIN_MS);
  server.once("close", () => clearInterval(timer));
}

/** Listens again on the same socket; this changes nothing while the server accepts. */
function listenAgain(server: Server): void {
  const handle: unknown = Reflect.get(server, "_handle");
  if (typeof handle !== "object" || handle === null || !("listen" in handle)) return;
  if (typeof handle.listen === "function") handle.listen(BACKLOG);
}
