/** Every HTTP route as data, as the OpenAPI document describes it, and the app that serves them. */
import { Hono } from "hono";
import {
  DeviceRevoked,
  DevicesAnswer,
  Health,
  Hook,
  HookChange,
  HooksAnswer,
  PairingClaim,
  PairingClaimed,
  PairingCreated,
  PairingRequest,
  PairingStatus,
} from "../protocol/http.ts";
import { PushAccepted, PushPage, PushRecord, PushRequest } from "../protocol/push.ts";
import { SessionsAnswer } from "../protocol/session.ts";
import {
  ShownReport,
  WebPushKey,
  WebPushSubscription,
  WebPushTest,
  WebPushTested,
} from "../protocol/web_push.ts";
import { networkOf } from "../runtime/plain_connections.ts";
import { StoreUnavailable } from "../store/store.ts";
import { REQUESTS } from "./admission.ts";
import { authenticate, keyOfRequest } from "./api_keys.ts";
import { OVER_BUDGET } from "./budgets.ts";
import {
  listDevices,
  releaseDevice,
  removeWebPush,
  reportShown,
  revokeDevice,
  saveWebPush,
  testWebPush,
  webPushKey,
} from "./devices.ts";
import {
  type Call,
  countRequest,
  problemResponse,
  Refusal,
  type Route,
  type Services,
  tooManyRequests,
} from "./handler.ts";
import { health, metrics, openApi, ready } from "./operation.ts";
import { claimPairing, createPairing, pairingStatus } from "./pairings.ts";
import { changeHook, getPush, listHooks, listPushes, sendPush } from "./push_routes.ts";
import { listSessions } from "./sessions.ts";
import { serveStatic, type StaticFiles } from "./static_files.ts";
import { SOCKET_PATH } from "./websocket.ts";

const PUSHES: readonly Route[] = [
  {
    method: "POST",
    path: "/pushes/send",
    summary:
      "Accepts a push and answers once it is durable. The same id with the same content gets the first answer.",
    scopes: ["push:send"],
    body: PushRequest,
    answer: { status: 202, schema: PushAccepted },
    errors: [
      "invalid_push",
      "wrong_role",
      "hook_revoked",
      "over_budget",
      "unknown_device",
      "unknown_push",
      "id_reused",
      "ask_closed",
      "ambiguous_session",
      "too_large",
      "unsupported_media_type",
      "store_unavailable",
    ],
    handle: sendPush,
  },
  {
    method: "GET",
    path: "/pushes/{id}",
    summary: "A push with its receipt.",
    scopes: ["push:send", "push:read"],
    answer: { status: 200, schema: PushRecord },
    errors: ["unknown_push"],
    handle: getPush,
  },
  {
    method: "GET",
    path: "/pushes",
    summary: "The history, newest last. Without a cursor it starts with the oldest push.",
    query: {
      after:
        "A push's id: returns the pushes after it. A page's `next` is the `after` of the next page. The id of a push that was removed is refused: begin again without it.",
      before:
        "A push's id, or `end`: returns the newest pushes before it. A page's `next` is the `before` of the next page.",
      open: "`questions`: returns only questions whose receipt is not final.",
      limit: "1 to 200, by default 50.",
    },
    scopes: ["push:read"],
    answer: { status: 200, schema: PushPage },
    errors: ["invalid_request"],
    handle: listPushes,
  },
];

const DEVICES: readonly Route[] = [
  {
    method: "GET",
    path: "/sessions",
    summary: "Every session of every listener of the account.",
    scopes: ["push:read"],
    answer: { status: 200, schema: SessionsAnswer },
    handle: listSessions,
  },
  {
    method: "GET",
    path: "/devices",
    summary: "The account's devices.",
    scopes: ["push:read"],
    answer: { status: 200, schema: DevicesAnswer },
    handle: listDevices,
  },
  {
    method: "DELETE",
    path: "/devices/{id}",
    summary:
      "Revokes a device: its keys, and the keys created from them by pairing, stop working at once, and their WebSockets are closed. A key that other devices use too keeps working, and is returned.",
    scopes: ["admin"],
    answer: { status: 204 },
    otherwise: { status: 200, schema: DeviceRevoked },
    errors: ["unknown_device", "store_unavailable"],
    handle: revokeDevice,
  },
  {
    method: "DELETE",
    path: "/devices/{id}/owner",
    summary: "Releases a device: the next key that connects with its id becomes its owner.",
    scopes: ["admin"],
    answer: { status: 204 },
    errors: ["unknown_device", "store_unavailable"],
    handle: releaseDevice,
  },
];

const WEB_PUSH: readonly Route[] = [
  {
    method: "GET",
    path: "/web-push/key",
    summary: "The key with which the relay signs Web Push messages (VAPID), for a phone that subscribes.",
    scopes: ["push:read"],
    answer: { status: 200, schema: WebPushKey },
    errors: ["store_unavailable"],
    handle: webPushKey,
  },
  {
    method: "PUT",
    path: "/devices/{id}/web-push",
    summary: "Stores a phone's Web Push subscription, and its preferences for ringing.",
    scopes: ["push:read"],
    body: WebPushSubscription,
    answer: { status: 204 },
    errors: ["invalid_request", "unknown_device", "too_large", "unsupported_media_type", "store_unavailable"],
    handle: saveWebPush,
  },
  {
    method: "DELETE",
    path: "/devices/{id}/web-push",
    summary: "Removes a phone's Web Push subscription.",
    scopes: ["push:read"],
    answer: { status: 204 },
    errors: ["unknown_device", "store_unavailable"],
    handle: removeWebPush,
  },
  {
    method: "POST",
    path: "/devices/{id}/web-push/test",
    summary: "Sends the phone a test message, and answers once the browser's vendor has answered.",
    scopes: ["push:read"],
    body: WebPushTest,
    answer: { status: 200, schema: WebPushTested },
    errors: [
      "invalid_request",
      "unknown_device",
      "not_found",
      "over_budget",
      "too_large",
      "unsupported_media_type",
      "store_unavailable",
    ],
    handle: testWebPush,
  },
  {
    method: "PUT",
    path: "/pushes/{id}/shown",
    summary: "A phone reports that it has shown a push to phones; the push's receipt records it.",
    scopes: ["push:read"],
    body: ShownReport,
    answer: { status: 204 },
    errors: [
      "invalid_request",
      "unknown_device",
      "unknown_push",
      "too_large",
      "unsupported_media_type",
      "store_unavailable",
    ],
    handle: reportShown,
  },
];

const HOOKS: readonly Route[] = [
  {
    method: "GET",
    path: "/hooks",
    summary:
      "The installations whose hooks have sent pushes, by the `hookId` in their data, with the number of pushes.",
    scopes: ["push:read"],
    answer: { status: 200, schema: HooksAnswer },
    handle: listHooks,
  },
  {
    method: "PUT",
    path: "/hooks/{id}",
    summary: "Mutes, revokes or reactivates an installation's hooks.",
    scopes: ["admin"],
    body: HookChange,
    answer: { status: 200, schema: Hook },
    errors: ["invalid_request", "unknown_hook", "too_large", "unsupported_media_type", "store_unavailable"],
    handle: changeHook,
  },
];

const PAIRINGS: readonly Route[] = [
  {
    method: "POST",
    path: "/pairings",
    summary:
      "Creates a one-time pairing code, valid for 10 minutes, with the host's offer if it makes one. Not for a phone's or a script's key.",
    scopes: ["push:read"],
    body: PairingRequest,
    needsNoBody: true,
    answer: { status: 201, schema: PairingCreated },
    errors: [
      "wrong_role",
      "over_budget",
      "invalid_request",
      "too_large",
      "unsupported_media_type",
      "store_unavailable",
    ],
    handle: createPairing,
  },
  {
    method: "GET",
    path: "/pairings/{code}",
    summary: "Whether a code has been claimed, and by which phone.",
    scopes: ["push:read"],
    answer: { status: 200, schema: PairingStatus },
    errors: ["unknown_pairing"],
    handle: pairingStatus,
  },
  {
    method: "POST",
    path: "/pairings/{code}/claim",
    summary:
      "Claims a code, once: returns the phone's own key and device id. A phone that sends its key keeps its device id.",
    body: PairingClaim,
    answer: { status: 201, schema: PairingClaimed },
    errors: [
      "invalid_request",
      "unknown_pairing",
      "too_large",
      "unsupported_media_type",
      "rate_limited",
      "store_unavailable",
    ],
    handleOpen: claimPairing,
  },
];

const OPERATION: readonly Route[] = [
  {
    method: "GET",
    path: "/healthz",
    summary: "The process is running.",
    answer: { status: 200, schema: Health },
    handleOpen: () => health(),
  },
  {
    method: "GET",
    path: "/readyz",
    summary: "The store and the bus can be reached; otherwise 503.",
    answer: { status: 200, schema: Health },
    otherwise: { status: 503, schema: Health },
    handleOpen: ready,
  },
  {
    method: "GET",
    path: "/metrics",
    summary: "Metrics as Prometheus text, from this machine or with a key that has the scope admin.",
    answer: { status: 200, type: "text/plain" },
    errors: ["unauthenticated", "missing_scope"],
    handleOpen: metrics,
  },
  {
    method: "GET",
    path: "/openapi.json",
    summary: "This document.",
    answer: { status: 200, type: "application/json" },
    handleOpen: (services) => openApi(services, ROUTES),
  },
];

export const ROUTES: readonly Route[] = [
  ...PUSHES,
  ...DEVICES,
  ...WEB_PUSH,
  ...HOOKS,
  ...PAIRINGS,
  ...OPERATION,
];

interface AppOptions {
  services: Services;
  /** The phone's web app. */
  files: StaticFiles;
}

/** `address` is the caller's IP address. */
export type App = (request: Request, address: string) => Promise<Response>;

interface Env {
  Bindings: { address: string };
}

export function createApp({ services, files }: AppOptions): App {
  const app = new Hono<Env>();
  // The 405 of a path is registered before the next path, whose parameter may match the same text.
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    const routes = ROUTES.filter((route) => route.path === path);
    for (const route of routes) {
      app.on(route.method, honoPath(path), ({ req, env }) =>
        handle(services, {
          route,
          call: {
            request: req.raw,
            address: env.address,
            param: (name) => req.param(name) ?? "",
            query: (name) => req.query(name),
          },
        }));
    }
    app.all(honoPath(path), () => methodNotAllowed(path, routes));
  }
  app.all(SOCKET_PATH, () => problemResponse("upgrade_required", { headers: { upgrade: "websocket" } }));
  app.get(
    "*",
    ({ req, env }) =>
      chargeOpen(services, { answer: serveStatic(files, req.raw) ?? notFound(), address: env.address }),
  );
  app.notFound(() => notFound());
  app.onError((error) => errorResponse(services, error));
  return async (request, address) => {
    const response = await app.fetch(request, { address });
    services.metrics.of(REQUESTS).add({ status: String(response.status) });
    return response;
  };
}

const honoPath = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

async function handle(services: Services, { route, call }: { route: Route; call: Call }): Promise<Response> {
  if (!("scopes" in route)) {
    return chargeOpen(services, { answer: await route.handleOpen(services, call), address: call.address });
  }
  const text = keyOfRequest(call.request);
  const key = await authenticate(services.store, { key: text, scopes: route.scopes });
  if (text !== undefined) services.admission.know(text, key.id);
  countRequest(services, key);
  return await route.handle(services, { ...call, key });
}

/** Answers that need no key are limited in bytes per address. Over the limit, the answer is replaced by a refusal. */
function chargeOpen(
  { budgets, clock, metrics }: Services,
  { answer, address }: { answer: Response; address: string },
): Response {
  const bytes = Number(answer.headers.get("content-length") ?? 0);
  const wait = budgets.openBytes.take(networkOf(address), clock.elapsed(), bytes);
  if (wait === 0) return answer;
  void answer.body?.cancel();
  metrics.of(OVER_BUDGET).add({ budget: "open_bytes" });
  const { response } = tooManyRequests(wait);
  response.headers.set("connection", "close");
  return response;
}

function methodNotAllowed(path: string, routes: readonly Route[]): Response {
  const allow = routes.map(({ method }) => method === "GET" ? "GET, HEAD" : method).join(", ");
  return problemResponse("method_not_allowed", { detail: `${path} takes ${allow}`, headers: { allow } });
}

function notFound(): Response {
  return problemResponse("not_found", {
    detail: "Cannot find anything at this path: /openapi.json lists the routes",
  });
}

/** The answer to an error thrown by a handler. Errors other than refusals are logged, and not shown in the answer. */
export function errorResponse({ log }: Pick<Services, "log">, error: unknown): Response {
  if (error instanceof Refusal) return error.response;
  log(`! ${error instanceof Error ? `${error.name}: ${error.message}` : "a request failed"}`);
  if (error instanceof StoreUnavailable) {
    return problemResponse("store_unavailable", {
      detail:
        "The store cannot be used, as on a full disk: the relay's log says why. A push is sent again with its id",
    });
  }
  return problemResponse("internal", { detail: "The relay failed: its log says why" });
}
