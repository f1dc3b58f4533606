/** The relay as a whole: store, bus, hub and HTTP server put together, started and stopped. */
import { LocalBus } from "../bus/local.ts";
import { type Clock, systemClock } from "../async/clock.ts";
import {
  BINARY_FRAME_MAX_BYTES,
  CONNECTIONS_PER_ADDRESS_MAX,
  HTTP_REQUESTS_BURST,
  HTTP_REQUESTS_PER_SECOND,
  REQUEST_MAX_BYTES,
  SUBPROTOCOL,
  TEXT_FRAME_MAX_BYTES,
  UNSENT_PER_ADDRESS_MAX_BYTES,
} from "../protocol/limits.ts";
import { type HttpServer, type HttpServerLimits, type Peer, serveHttp } from "../runtime/http_server.ts";
import { networkOf } from "../runtime/plain_connections.ts";
import { openStore } from "../store/sqlite.ts";
import { type Store, StoreUnavailable } from "../store/store.ts";
import { createApp, errorResponse } from "./app.ts";
import { makeBudgets } from "./budgets.ts";
import { findMirror } from "./find_mirror.ts";
import { Hub } from "./hub.ts";
import { hostAndPort, listenError, parseListenAddress } from "./listen_address.ts";
import { RelayMetrics } from "./metrics.ts";
import { problemResponse } from "./problems.ts";
import { TokenBuckets, type TokenBucketsOptions } from "../async/token_bucket.ts";
import { PageTurns, type Services } from "./services.ts";
import { readStaticFiles } from "./static_files.ts";
import { Streams } from "./streams.ts";
import { Tasks } from "./tasks.ts";
import { Upkeep } from "./upkeep.ts";
import { admit, SOCKET_PATH } from "./websocket_upgrade.ts";

export interface RelayOptions {
  /** `host:port`; port 0 takes a free one. */
  listen: string;
  dataDir: string;
  /** The address under which others reach this relay, for its own description. */
  publicUrl?: string | undefined;
  /** Addresses of reverse proxies: the callers that they name count in their place. */
  trustedProxies?: readonly string[] | undefined;
  /** PEM texts. */
  tls?: { cert: string; key: string } | undefined;
  /** The phone's app, served at `/`. */
  phoneDirectory?: string | undefined;
  /** Never a key, a body or a frame. */
  log?: ((line: string) => void) | undefined;
  clock?: Clock | undefined;
  /** Requests and handshakes, per key. */
  rateLimit?: TokenBucketsOptions | undefined;
}

export interface RunningRelay {
  /** `http://host:port`, without a slash at the end. */
  url: string;
  wsUrl: string;
  port: number;
  /** Takes nothing more, sends clients away with 1012, lets what is in hand end; done in less than 5 seconds. */
  stop(): Promise<void>;
}

/** A write waits so long for another process's lock; the whole relay waits with it. */
const STORE_BUSY_MS = 200;
const TICK_MS = 1_000;
const FORGET_MS = 3_600_000;
/** How long a stop waits for clients and requests. */
const STOP_GRACE_MS = 3_000;

const REQUEST_RATE: TokenBucketsOptions = { perSecond: HTTP_REQUESTS_PER_SECOND, burst: HTTP_REQUESTS_BURST };
/** Claims of pairing codes, per address. */
const CLAIM_RATE: TokenBucketsOptions = { perSecond: 0.2, burst: 10 };

const LIMITS: HttpServerLimits = {
  bodyBytes: REQUEST_MAX_BYTES,
  textFrameBytes: TEXT_FRAME_MAX_BYTES,
  binaryFrameBytes: BINARY_FRAME_MAX_BYTES,
  headerBytes: 16_384,
  headersMs: 10_000,
  requestMs: 15_000,
  keepAliveMs: 65_000,
  plainConnections: 1_024,
  connectionsPerAddress: CONNECTIONS_PER_ADDRESS_MAX,
  unsentBytesPerAddress: UNSENT_PER_ADDRESS_MAX_BYTES,
};

/** Of all resources together. */
const METHODS = "GET, HEAD, POST, PUT, DELETE";

/** Resolves once requests are taken. Rejects with StoreUnavailable, or when the address cannot be had. */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  const address = parseListenAddress(options.listen);
  const files = options.phoneDirectory === undefined
    ? new Map()
    : await readStaticFiles(options.phoneDirectory);
  const store = await openStore(options.dataDir, { busyMs: STORE_BUSY_MS, forRelay: true });
  const services = bind(store, options);
  try {
    await store.setAllOffline(services.clock.now());
    const app = createApp({ services, files });
    const server = await serveHttp({
      ...address,
      tls: options.tls,
      limits: LIMITS,
      subprotocol: SUBPROTOCOL,
      proxies: options.trustedProxies,
      over: (budget) => services.metrics.overBudget.add({ budget }),
      fetch: (request, peer) =>
        app(request, callerAddress(request, { peer, proxies: options.trustedProxies })),
      upgrade: (request) => admit(services, request),
      tooLarge: () =>
        problemResponse("too_large", { detail: `A body has at most ${REQUEST_MAX_BYTES} bytes` }),
      forbiddenMethod: () =>
        problemResponse("method_not_allowed", {
          detail: `The relay takes ${METHODS}`,
          headers: { allow: METHODS },
        }),
      failed: (error) => errorResponse(services, error),
    });
    return run(services, { server, tls: options.tls !== undefined });
  } catch (error) {
    await store.close();
    throw listenError(error, options.listen);
  }
}

/** A trusted proxy adds the address that it was called from to the end of the header. */
function callerAddress(
  { headers }: Request,
  { peer, proxies = [] }: { peer: Peer; proxies?: readonly string[] | undefined },
): string {
  const last = headers.get("x-forwarded-for")?.split(",").at(-1)?.trim();
  return proxies.includes(networkOf(peer.address)) && last ? last : peer.address;
}

function bind(store: Store, options: RelayOptions): Services {
  const log = options.log ?? (() => undefined);
  const failed = (error: unknown): void => void errorResponse({ log }, error);
  const bus = new LocalBus();
  const tasks = new Tasks(failed);
  const metrics = new RelayMetrics();
  const hub = new Hub({ bus, metrics, tasks });
  return {
    store,
    bus,
    metrics,
    hub,
    streams: new Streams({
      find: ({ account }, open) => findMirror({ store, hub }, { account, open }),
      stray: () => metrics.strayFrames.add(),
      lost: () => metrics.overBudget.add({ budget: "listener_unread" }),
    }),
    clock: options.clock ?? systemClock,
    requests: new TokenBuckets(options.rateLimit ?? REQUEST_RATE),
    claims: new TokenBuckets(CLAIM_RATE),
    budgets: makeBudgets(),
    pages: new PageTurns(),
    tasks,
    publicUrl: options.publicUrl,
    log,
  };
}

function run(services: Services, { server, tls }: { server: HttpServer; tls: boolean }): RunningRelay {
  const { hub, tasks, store, clock } = services;
  const upkeep = new Upkeep(services);
  const stops = [
    every(TICK_MS, clock, () => {
      hub.tick();
      tasks.run(upkeep.endDue());
    }),
    every(FORGET_MS, clock, () => tasks.run(upkeep.forgetOld())),
    store.watchRevocations((revocation) => hub.revoke(revocation)),
  ];
  const host = hostAndPort(server);
  const secure = tls ? "s" : "";
  let stopped: Promise<void> | undefined;
  return {
    url: `http${secure}://${host}`,
    wsUrl: `ws${secure}://${host}${SOCKET_PATH}`,
    port: server.port,
    stop() {
      stopped ??= stop(services, { server, stops });
      return stopped;
    },
  };
}

/** Calls `action` again and again, so long after its last call; returns how to stop. */
function every(ms: number, clock: Clock, action: () => void): () => void {
  let cancel = (): void => undefined;
  const next = (): void => {
    cancel = clock.after(ms, () => {
      next();
      action();
    });
  };
  next();
  return () => cancel();
}

async function stop(
  services: Services,
  { server, stops }: { server: HttpServer; stops: (() => void)[] },
): Promise<void> {
  const { hub, tasks, store, bus, clock, log } = services;
  for (const end of stops) end();
  const timer = setTimeout(() => hub.terminateAll(), STOP_GRACE_MS);
  await Promise.all([hub.stop(), server.stop(STOP_GRACE_MS)]);
  clearTimeout(timer);
  await tasks.settled();
  // A store that fails now knows the listeners as online: the next start puts that right.
  await store.setAllOffline(clock.now()).catch((error) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    log(`! ${error.message}`);
  });
  await bus.close();
  await store.close();
}
