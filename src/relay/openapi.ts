/** The OpenAPI 3.1 document, made from the routes and the schemas that they parse and answer with. */
import * as z from "zod/mini";
import { Problem, WIRE_ERRORS, type WireErrorCode } from "../protocol/errors.ts";
import { VERSION } from "../protocol/version.ts";
import type { Route } from "./routes.ts";

type Json = Record<string, unknown>;

const KEYED_ERRORS: readonly WireErrorCode[] = ["unauthenticated", "missing_scope", "rate_limited"];

export function openApi(routes: readonly Route[], { serverUrl }: { serverUrl: string }): Json {
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
      description: "Messages from phones and scripts to terminal coding agents.",
    },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      securitySchemes: { key: { type: "apiKey", in: "header", name: "X-API-Key" } },
      schemas: { Problem: jsonSchema(Problem, "output") },
    },
  };
}

function operation(route: Route): Json {
  const { method, path, summary, body, answer } = route;
  const keyed = "scopes" in route;
  const scopes = keyed ? `Needs a key with the scope ${route.scopes.join(" or ")}.` : "Needs no key.";
  const content = answer.schema === undefined
    ? answer.type && { [answer.type]: {} }
    : { "application/json": { schema: jsonSchema(answer.schema, "output") } };
  return {
    operationId: operationId(method, path),
    summary,
    description: scopes,
    security: keyed ? [{ key: [] }] : [],
    parameters: parameters(route),
    ...(body && { requestBody: requestBody(body) }),
    responses: { [answer.status]: { description: summary, ...(content && { content }) }, ...problems(route) },
  };
}

function operationId(method: string, path: string): string {
  const words = path.replace(/[{}]/g, "").split(/[/.-]/).filter((word) => word !== "");
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join(
    "",
  );
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
  return { required: true, content: { "application/json": { schema: jsonSchema(schema, "input") } } };
}

/** One answer per status; codes that share one are named in it. */
function problems(route: Route): Record<string, Json> {
  const codes = [...("scopes" in route ? KEYED_ERRORS : []), ...route.errors ?? []];
  const statuses = new Set(codes.map((code) => WIRE_ERRORS[code].status));
  return Object.fromEntries([...statuses].map((status) => [status, {
    description: codes.filter((code) => WIRE_ERRORS[code].status === status).join(" or "),
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  }]));
}

/** Checks that JSON Schema cannot express stay with the schema's own parser. */
function jsonSchema(schema: z.core.$ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...found } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return found;
}
