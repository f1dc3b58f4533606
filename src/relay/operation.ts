/** The routes for operators: health, readiness, metrics, and the OpenAPI document made from the routes and schemas. */
import * as z from "zod/mini";
import { errorText } from "../async/error_text.ts";
import { encodeUtf8 } from "../async/encodings.ts";
import { Problem, WIRE_ERRORS, type WireErrorCode } from "../protocol/errors.ts";
import { VERSION } from "../protocol/version.ts";
import { ANSWER_HEADERS } from "./admission.ts";
import { authenticate, keyOfRequest } from "./api_keys.ts";
import { type Call, json, type Route, type Services } from "./handler.ts";
import { Gauge } from "./metrics.ts";

/** `GET /healthz`: the process is running. */
export function health(): Response {
  return json({ status: "ok", version: VERSION });
}

/** `GET /readyz`: SQLite is writable, or NATS's streams answer, and the other nodes are reachable. */
export async function ready({ store, bus, log }: Services): Promise<Response> {
  try {
    await Promise.all([store.ready(), bus.ready()]);
    return json({ status: "ok", version: VERSION });
  } catch (error) {
    log(`! not ready: ${errorText(error)}`);
    return json({ status: "unavailable", version: VERSION }, 503);
  }
}

/** `GET /metrics`: from this machine, or with a key that has the scope admin. */
export async function metrics(services: Services, call: Call): Promise<Response> {
  if (!isLocal(call, services)) {
    await authenticate(services.store, { key: keyOfRequest(call.request), scopes: ["admin"] });
  }
  return new Response(services.metrics.render(gaugesOf(services)), {
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", ...ANSWER_HEADERS },
  });
}

/** Headers of a proxy on this machine, whose requests come from the local address but are not local. */
const FORWARDED = ["forwarded", "x-forwarded-for", "x-real-ip", "cf-connecting-ip", "tailscale-user-login"];

/**
 * Checking Host defeats DNS rebinding: a page whose name resolves to 127.0.0.1 in a browser on this machine. The public
 * name is this machine's only without a proxy in front, which may pass it on without a header of its own.
 */
function isLocal({ address, request }: Call, { publicUrl, isTls }: Services): boolean {
  const isLoopback = address === "::1" || /^(::ffff:)?127\./.test(address);
  const isForwarded = FORWARDED.some((name) => request.headers.has(name));
  return isLoopback && !isForwarded &&
    isOwnHost(request.headers.get("host"), isTls === true ? publicUrl : undefined);
}

function isOwnHost(host: string | null, publicUrl: string | undefined): boolean {
  if (host === null || !URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  if (hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname)) return true;
  return publicUrl !== undefined && hostname === new URL(publicUrl).hostname;
}

type Json = Record<string, unknown>;

const KEYED_ERRORS: readonly WireErrorCode[] = [
  "unauthenticated",
  "missing_scope",
  "rate_limited",
  "overloaded",
];

/** Answers without a key are limited by address. */
const OPEN_ERRORS: readonly WireErrorCode[] = ["rate_limited"];

interface MadeDocument {
  serverUrl: string;
  body: Uint8Array<ArrayBuffer>;
}

const documents = new WeakMap<Services, MadeDocument>();

/**
 * `GET /openapi.json`: needs no key and is the most expensive answer, so it is made once per relay, and again when the
 * relay's address becomes known.
 */
export function openApi(services: Services, routes: readonly Route[]): Response {
  const serverUrl = services.publicUrl ?? "/";
  let made = documents.get(services);
  if (made?.serverUrl !== serverUrl) {
    made = { serverUrl, body: encodeUtf8(JSON.stringify(describe(routes, serverUrl))) };
    documents.set(services, made);
  }
  const { body } = made;
  const length = { "content-length": String(body.length) };
  return new Response(body, {
    headers: { "content-type": "application/json", ...length, ...ANSWER_HEADERS },
  });
}

function describe(routes: readonly Route[], serverUrl: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "svc relay",
      version: VERSION,
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "The operator of this relay" },
      description: "Messages from phones and scripts to terminal coding agents.",
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { key: { type: "apiKey", in: "header", name: "X-API-Key" } },
      schemas: { Problem: jsonSchema(Problem, "output") },
    },
  };
}

function operation(route: Route): Json {
  const { method, path, summary, body, answer, otherwise, needsNoBody } = route;
  const keyed = "scopes" in route;
  const scopes = keyed ? `Needs a key with the scope ${route.scopes.join(" or ")}.` : "Needs no key.";
  const content = answer.schema === undefined
    ? answer.type && { [answer.type]: {} }
    : jsonContent(answer.schema);
  return {
    operationId: operationId(method, path),
    tags: [tagOf(route)],
    summary,
    description: scopes,
    security: keyed ? [{ key: [] }] : [],
    parameters: parameters(route),
    ...(body && { requestBody: { required: needsNoBody !== true, ...requestBody(body) } }),
    responses: {
      [answer.status]: { description: summary, ...(content && { content }) },
      ...(otherwise &&
        { [otherwise.status]: { description: summary, content: jsonContent(otherwise.schema) } }),
      ...problems(route),
    },
  };
}

function jsonContent(schema: z.core.$ZodType): Json {
  return { "application/json": { schema: jsonSchema(schema, "output") } };
}

function tagOf({ path }: Route): string {
  return path.split("/")[1] ?? "";
}

function operationId(method: string, path: string): string {
  const words = path.replace(/[{}]/g, "").split(/[/.-]/).filter((word) => word !== "");
  const capitalized = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return [method.toLowerCase(), ...capitalized].join("");
}

function parameters({ path, query = {} }: Route): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query).map(([name, description]) => ({
    name,
    in: "query",
    description,
    schema: { type: "string" },
  }));
  return [...inPath, ...inQuery];
}

function requestBody(schema: z.core.$ZodType): Json {
  return { content: { "application/json": { schema: jsonSchema(schema, "input") } } };
}

/** One answer per status, which lists the codes that share it. */
function problems(route: Route): Record<string, Json> {
  const codes = [...new Set([...("scopes" in route ? KEYED_ERRORS : OPEN_ERRORS), ...route.errors ?? []])];
  const statuses = new Set(codes.map((code) => WIRE_ERRORS[code].status));
  return Object.fromEntries([...statuses].map((status) => [status, {
    description: codes.filter((code) => WIRE_ERRORS[code].status === status).join(" or "),
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  }]));
}

/** Leaves out checks that JSON Schema cannot express. */
function jsonSchema(schema: z.core.$ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...found } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return found;
}

function gaugesOf({ hub, store }: Services): Gauge[] {
  const { backlog } = store;
  if (backlog === undefined) return [hub.gauge];
  return [
    hub.gauge,
    new Gauge("svc_nats_backlog", {
      help: "Messages and receipts in NATS that this node has yet to read.",
      read: () => [[{}, backlog()]],
    }),
  ];
}
