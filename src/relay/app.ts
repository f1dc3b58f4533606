/** The relay's HTTP as a function from request to response: routes, keys, limits, and errors as problems. */
import { Hono } from "hono";
import { networkOf } from "../runtime/plain_connections.ts";
import { StoreUnavailable } from "../store/store.ts";
import { REQUESTS } from "./admission.ts";
import { authenticate, keyOfRequest } from "./api_keys.ts";
import { OVER_BUDGET } from "./budgets.ts";
import {
  type Call,
  countRequest,
  problemResponse,
  Refusal,
  type Route,
  type Services,
  tooManyRequests,
} from "./handler.ts";
import { ROUTES } from "./routes.ts";
import { serveStatic, type StaticFiles } from "./static_files.ts";
import { SOCKET_PATH } from "./websocket.ts";

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
