/** The relay: creates its store, bus, hub and HTTP server, starts them and stops them. */
import { atMost, type Clock, systemClock } from "../async/clock.ts";
import { Mutex } from "../async/mutex.ts";
import type { TokenRate } from "../async/token_bucket.ts";
import { type Bus, LocalBus } from "../bus/bus.ts";
import {
  BINARY_FRAME_MAX_BYTES,
  CONNECTIONS_PER_ADDRESS_MAX,
  REQUEST_MAX_BYTES,
  SUBPROTOCOL,
  TEXT_FRAME_MAX_BYTES,
  UNSENT_PER_ADDRESS_MAX_BYTES,
} from "../protocol/limits.ts";
import { type HttpServer, type HttpServerLimits, type Peer, serveHttp } from "../runtime/http_server.ts";
import type { NatsAddress } from "../runtime/nats_address.ts";
import { plainAddress } from "../runtime/plain_connections.ts";
import { openStore } from "../store/sqlite.ts";
import { type Store, StoreUnavailable } from "../store/store.ts";
import { Admission } from "./admission.ts";
import { makeBudgets, OVER_BUDGET, REPORT_MS, reportBudgets, shareBudgets } from "./budgets.ts";
import { ClaimAnswers } from "./claim_answers.ts";
import { closeGaps } from "./gaps.ts";
import { problemResponse, type Services, Tasks } from "./handler.ts";
import { Hub } from "./hub.ts";
import { RelayMetrics } from "./metrics.ts";
import { PushClaims } from "./outbox.ts";
import { publishReceipt } from "./receipts.ts";
import { RemotePhones } from "./remote_phones.ts";
import { createApp, errorResponse } from "./routes.ts";
import { repeatDepartures } from "./sessions.ts";
import { readStaticFiles } from "./static_files.ts";
import { Streams } from "./streams.ts";
import { Upkeep } from "./upkeep.ts";
import { WebPush } from "./web_push.ts";
import { admit, SOCKET_PATH } from "./websocket.ts";

export interface RelayOptions {
  /** `host:port`; port 0 chooses a free port. */
  listen: string;
  dataDir: string;
  /** Keeps the data in NATS, with other nodes, in place of `dataDir`. */
  nats?: NatsAddress | undefined;
  /** Where others reach this relay; shown in the OpenAPI document. */
  publicUrl?: string | undefined;
  /** Addresses of reverse proxies, as `plainAddress`, whose X-Forwarded-For names the caller. */
  trustedProxies?: readonly string[] | undefined;
  /** PEM texts. */
  tls?: { cert: string; key: string } | undefined;
  /** The phone's web app, served at `/`. */
  phoneDirectory?: string | undefined;
  /** Receives log lines; never a key, a body or a frame. */
  log?: ((line: string) => void) | undefined;
  clock?: Clock | undefined;
  /** Requests and handshakes, per key. */
  rateLimit?: TokenRate | undefined;
  /** The operator's contact for browser vendors: `mailto:` or `https:`. */
  webPushContact?: string | undefined;
  /** For tests: Web Push messages may also be sent to plain http addresses of this machine. */
  webPushLoopback?: boolean | undefined;
}

export interface RunningRelay {
  /** `http://host:port`, without a trailing slash. */
  url: string;
  wsUrl: string;
  port: number;
  /** Sets where phones reach the relay, when that is known only after the start, as with a tunnel. */
  setPublicUrl(url: string): void;
  /** Stops accepting, closes clients with 1012 and finishes running requests; takes less than 5 seconds. */
  stop(): Promise<void>;
}

/** How long a write waits for another process's lock; the whole relay blocks meanwhile. */
const STORE_BUSY_MS = 200;
const TICK_MS = 1_000;
/** How often mirrors are checked that have their other end on another node. */
const LOST_MS = 3_000;
/** Old data is first removed soon after the start, because many relays run for less than an hour at a time. */
const FORGET_FIRST_MS = 60_000;
const FORGET_MS = 3_600_000;
/** By then hosts have reconnected, and withdrawn the questions that were closed while the relay was down. */
const RESUME_MS = 5_000;
/** Nodes that start together ring at different times, so that each sees what another has sent. */
const RESUME_SPREAD_MS = 30_000;
/** How long a stop waits for clients and requests. */
const STOP_GRACE_MS = 3_000;
/** The longest time until a stop closes the store, unless clients and requests took almost all of it. */
const STOP_LIMIT_MS = 4_000;
const FLUSH_MIN_MS = 700;

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

const TOO_LARGE = {
  body: `A body has at most ${REQUEST_MAX_BYTES} bytes`,
  headers: `A request's headers have at most ${LIMITS.headerBytes} bytes: remove cookies of this host`,
};

/** The methods of all routes together. */
const METHODS = "GET, HEAD, POST, PUT, DELETE";

/** Resolves once the relay accepts requests. Rejects with StoreUnavailable, or when it cannot listen on the address. */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  const address = parseListenAddress(options.listen);
  const files = options.phoneDirectory === undefined
    ? new Map()
    : await readStaticFiles(options.phoneDirectory);
  const { store, bus } = await openData(options);
  const sentUpTo = await store.newestPush();
  const services = makeServices({ store, bus, sentUpTo }, options);
  warnOfClock(services);
  try {
    await store.setAllOffline(services.clock.now());
    const app = createApp({ services, files });
    const server = await serveHttp({
      ...address,
      tls: options.tls,
      limits: LIMITS,
      subprotocol: SUBPROTOCOL,
      proxies: options.trustedProxies,
      over: (budget) => services.metrics.of(OVER_BUDGET).add({ budget }),
      admit: ({ headers }) => services.admission.admit(headerText(headers["x-api-key"])),
      fetch: (request, peer) =>
        app(request, callerAddress(request, { peer, proxies: options.trustedProxies })),
      upgrade: (request) => admit(services, request),
      tooLarge: (what) => problemResponse("too_large", { detail: TOO_LARGE[what] }),
      forbiddenMethod: () =>
        problemResponse("method_not_allowed", {
          detail: `The relay takes ${METHODS}`,
          headers: { allow: METHODS },
        }),
      failed: (error) => errorResponse(services, error),
    });
    return run(services, { server, tls: options.tls !== undefined });
  } catch (error) {
    await bus.close();
    await store.close();
    throw listenError(error, options.listen);
  }
}

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

interface Data {
  store: Store;
  bus: Bus;
}

async function openData({ dataDir, nats }: RelayOptions): Promise<Data> {
  if (nats === undefined) {
    return {
      store: await openStore(dataDir, { busyMs: STORE_BUSY_MS, only: "relay" }),
      bus: new LocalBus(),
    };
  }
  // Loaded only by a relay that uses it.
  const { openNatsStore } = await import("../store/nats.ts");
  const { openNatsBus } = await import("../bus/nats.ts");
  const node = crypto.randomUUID();
  const store = await openNatsStore(nats, { node });
  try {
    return { store, bus: await openNatsBus(nats, { node }) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A trusted proxy appends the address of its caller to X-Forwarded-For. */
function callerAddress(
  { headers }: Request,
  { peer, proxies = [] }: { peer: Peer; proxies?: readonly string[] | undefined },
): string {
  const last = withoutPort(headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "");
  return proxies.includes(plainAddress(peer.address)) && last ? last : peer.address;
}

/** Some proxies append the caller's port, as in `192.0.2.1:40000` or `[2001:db8::1]:40000`. */
function withoutPort(text: string): string {
  const [, bracketed, plain] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  return bracketed ?? plain ?? text;
}

function makeServices(
  { store, bus, sentUpTo }: Data & { sentUpTo: number },
  options: RelayOptions,
): Services {
  const log = ignoringErrors(options.log ?? (() => undefined));
  const failed = (error: unknown): void => void errorResponse({ log }, error);
  const tasks = new Tasks(failed);
  const metrics = new RelayMetrics();
  const hub = new Hub({ bus, metrics, run: (work) => tasks.run(work) });
  const clock = clockOf(store, options);
  const remote = new RemotePhones({ bus, store });
  const webPush = new WebPush({
    store,
    clock,
    metrics,
    log,
    isConnected: async (device) => hub.isConnected(device) || await store.nodeOf(device) !== undefined,
    run: (work) => tasks.run(work),
    changed: (stored) => publishReceipt({ bus }, stored),
    contact: () => options.webPushContact ?? httpsOnly(services.publicUrl),
    allowLoopback: options.webPushLoopback,
  });
  const budgets = makeBudgets({ requests: options.rateLimit, shared: options.nats !== undefined });
  const services: Services = {
    store,
    bus,
    metrics,
    hub,
    streams: new Streams({ store, hub, remote, metrics }),
    remote,
    webPush,
    clock,
    claims: new PushClaims(isShared({ store }) ? { shared: true } : { sentUpTo }),
    claimAnswers: new ClaimAnswers(),
    budgets,
    admission: new Admission({ budgets, clock, metrics }),
    pageReads: new Mutex(),
    tasks,
    publicUrl: options.publicUrl,
    isTls: options.tls !== undefined,
    log,
  };
  return services;
}

function httpsOnly(url: string | undefined): string | undefined {
  return url?.startsWith("https:") === true ? url : undefined;
}

/** Ignores a failure to write a line, as on a full disk or without a reader: the next line may succeed. */
function ignoringErrors(log: (line: string) => void): (line: string) => void {
  return (line) => {
    try {
      log(line);
    } catch {
      // There is nowhere else to report it.
    }
  };
}

/** The clock of a store that several nodes share, if it has one: nodes compare times that other nodes have set. */
function clockOf({ clockOffset }: Store, { clock = systemClock }: RelayOptions): Clock {
  if (clockOffset === undefined) return clock;
  return {
    now: () => clock.now() + clockOffset(),
    elapsed: () => clock.elapsed(),
    after: (ms, action) => clock.after(ms, action),
  };
}

/** A difference from NATS's clock that is worth a line in the log. */
const CLOCK_WARNED_MS = 5_000;

function warnOfClock({ store, log }: Services): void {
  const offset = store.clockOffset?.() ?? 0;
  if (Math.abs(offset) < CLOCK_WARNED_MS) return;
  const seconds = Math.round(Math.abs(offset) / 1_000);
  const side = offset > 0 ? "behind" : "ahead of";
  log(`! this machine's clock is ${seconds} s ${side} NATS's, which is used instead: set it right`);
}

function run(services: Services, { server, tls }: { server: HttpServer; tls: boolean }): RunningRelay {
  const { hub, tasks, store, clock } = services;
  const upkeep = new Upkeep(services);
  const stops = [
    every(TICK_MS, clock, () => {
      hub.tick();
      tasks.run(upkeep.endDue());
      tasks.run(repeatDepartures(services));
    }),
    clock.after(FORGET_FIRST_MS, () => tasks.run(upkeep.forgetOld())),
    every(FORGET_MS, clock, () => tasks.run(upkeep.forgetOld())),
    () => upkeep.stop(),
    store.watchRevocations((revocation) => hub.revoke(revocation)),
    store.watchPushes?.((push) => hub.arrived(push)) ?? (() => undefined),
    services.remote.start(services.streams),
    ...(isShared(services)
      ? [shareBudgets(services), every(REPORT_MS, clock, () => reportBudgets(services))]
      : []),
    every(LOST_MS, clock, () => tasks.run(services.remote.endLost(services.streams))),
    closeGaps(services),
  ];
  const spread = isShared(services) ? RESUME_MS + Math.random() * RESUME_SPREAD_MS : 0;
  tasks.run(services.webPush.resume(RESUME_MS + spread));
  const host = hostAndPort(server);
  const secure = tls ? "s" : "";
  let stopped: Promise<void> | undefined;
  return {
    url: `http${secure}://${host}`,
    wsUrl: `ws${secure}://${host}${SOCKET_PATH}`,
    port: server.port,
    setPublicUrl: (url) => void (services.publicUrl = url),
    stop() {
      stopped ??= stop(services, { server, stops });
      return stopped;
    },
  };
}

/** True when other nodes use the same store. */
function isShared({ store }: Pick<Services, "store">): boolean {
  return store.watchPushes !== undefined;
}

/** Calls `action` repeatedly, `ms` apart. Returns the function that stops it. */
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
  const { hub, clock, webPush } = services;
  const deadline = clock.elapsed() + STOP_LIMIT_MS;
  for (const end of stops) end();
  webPush.stop();
  const timer = setTimeout(() => hub.terminateAll(), STOP_GRACE_MS);
  await Promise.all([hub.stop(), server.stop(STOP_GRACE_MS)]);
  clearTimeout(timer);
  await flush(services, Math.max(FLUSH_MIN_MS, deadline - clock.elapsed()));
}

interface ListenAddress {
  hostname: string;
  port: number;
}

/** `127.0.0.1:7420`, `[::1]:7420`, `localhost:0`. */
export function parseListenAddress(text: string): ListenAddress {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match?.[1] === undefined || port > 65_535) {
    throw new TypeError(
      `Cannot listen on "${text}": it is not an address with a port, such as 127.0.0.1:7420, [::1]:7420 or 0.0.0.0:7420`,
    );
  }
  return { hostname: match[1].replace(/^\[|\]$/g, ""), port };
}

/** `host:port` as in a URL. */
export function hostAndPort({ hostname, port }: ListenAddress): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

const ABSENT = "this machine does not have this address; 127.0.0.1 and 0.0.0.0 always work";
const LISTEN_FAULTS: Record<string, string> = {
  EADDRINUSE: "it is in use; stop the program that uses it, or choose another port",
  EADDRNOTAVAIL: ABSENT,
  // What Deno's node:http says instead.
  EINVAL: ABSENT,
  EACCES: "this user is not allowed to; choose a port from 1024 up",
  ENOTFOUND: "the host is unknown; give an address such as 127.0.0.1",
};

/** Explains why the system refused the address; other errors are returned unchanged. */
function listenError(error: unknown, address: string): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const why = LISTEN_FAULTS[String(error.code)];
  return why === undefined
    ? error
    : new Error(`Cannot listen on "${address}": ${why} (${error.code})`, { cause: error });
}

/** The part of a flush's time that is reserved for marking devices offline. */
const OFFLINE_MS = 500;
/** How long closing the store and the bus may take. */
const CLOSE_MS = 700;

type Flushed = Pick<Services, "clock" | "log"> & {
  tasks: Pick<Services["tasks"], "settled">;
  store: Pick<Services["store"], "setAllOffline" | "close">;
  bus: Pick<Services["bus"], "close">;
};

/**
 * The last step of a stop, once clients and requests are gone: waits until the store has stored everything, for at most
 * `limitMs`, and `CLOSE_MS` more for closing it.
 */
export async function flush(
  { tasks, store, bus, clock, log }: Flushed,
  limitMs: number,
): Promise<void> {
  const end = clock.elapsed() + limitMs;
  const isSettled = await atMost(tasks.settled(), { clock, ms: limitMs - OFFLINE_MS });
  // If the store fails here, it still lists the listeners as online; the next start corrects that.
  const offline = store.setAllOffline(clock.now()).catch((error) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    log(`! ${error.message}`);
  });
  const isOffline = await atMost(offline, { clock, ms: end - clock.elapsed() });
  if (!isSettled || !isOffline) log("! stopping although the store has not stored everything");
  await atMost(bus.close().then(() => store.close()), { clock, ms: CLOSE_MS });
}
