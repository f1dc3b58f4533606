/** Every HTTP route as data: the app answers by it, and the OpenAPI document is made from it. */
import type * as z from "zod/mini";
import type { WireErrorCode } from "../protocol/errors.ts";
import {
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
  type Scope,
  WebPushSubscription,
} from "../protocol/http.ts";
import { PushAccepted, PushPage, PushRecord, PushRequest } from "../protocol/push.ts";
import { SessionsAnswer } from "../protocol/session.ts";
import type { Call, KeyedCall } from "./call.ts";
import { listDevices, releaseDevice, removeWebPush, revokeDevice, saveWebPush } from "./devices.ts";
import { healthy, metrics, ready } from "./health.ts";
import { changeHook, listHooks } from "./hooks.ts";
import { openApi } from "./openapi.ts";
import { claimPairing, createPairing, pairingStatus } from "./pairings.ts";
import { getPush, listPushes } from "./pushes.ts";
import { sendPush } from "./send.ts";
import type { Services } from "./services.ts";
import { listSessions } from "./sessions.ts";

/** What a route is to its readers. `path` has its parameters in braces. */
export interface RouteDoc {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  summary: string;
  query?: Record<string, string>;
  body?: z.core.$ZodType;
  answer: { status: number; schema?: z.core.$ZodType; type?: string };
  /** Beyond those that every keyed route has. */
  errors?: readonly WireErrorCode[];
}

/** A route that needs a key with one of the scopes. */
export interface KeyedRoute extends RouteDoc {
  scopes: readonly Scope[];
  handle(services: Services, call: KeyedCall): Promise<Response>;
}

export interface OpenRoute extends RouteDoc {
  handleOpen(services: Services, call: Call): Response | Promise<Response>;
}

export type Route = KeyedRoute | OpenRoute;

const PUSHES: readonly Route[] = [
  {
    method: "POST",
    path: "/pushes/send",
    summary:
      "Accepts a push: answers once it is durable. The same id with the same content gets the first answer.",
    scopes: ["push:send"],
    body: PushRequest,
    answer: { status: 202, schema: PushAccepted },
    errors: [
      "invalid_push",
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
    summary: "The push and its receipt.",
    scopes: ["push:send", "push:read"],
    answer: { status: 200, schema: PushRecord },
    errors: ["unknown_push"],
    handle: getPush,
  },
  {
    method: "GET",
    path: "/pushes",
    summary: "History, newest last. Without a cursor it begins with the oldest push.",
    query: {
      after: "A push's id: what follows it. `next` of a page is the `after` of the following one.",
      before: "A push's id, or `end`: the newest ones before it.",
      limit: "1 to 200, 50 when left out.",
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
      "Revokes a device: its keys, and those that came from them by pairing, stop working at once; their sockets are closed.",
    scopes: ["admin"],
    answer: { status: 204 },
    errors: ["unknown_device", "store_unavailable"],
    handle: revokeDevice,
  },
  {
    method: "DELETE",
    path: "/devices/{id}/owner",
    summary: "Releases a device: the next key that says hello with its id owns it.",
    scopes: ["admin"],
    answer: { status: 204 },
    errors: ["unknown_device", "store_unavailable"],
    handle: releaseDevice,
  },
  {
    method: "PUT",
    path: "/devices/{id}/web-push",
    summary: "Keeps a phone's Web Push subscription.",
    scopes: ["push:read"],
    body: WebPushSubscription,
    answer: { status: 204 },
    errors: ["invalid_request", "unknown_device", "too_large", "unsupported_media_type", "store_unavailable"],
    handle: saveWebPush,
  },
  {
    method: "DELETE",
    path: "/devices/{id}/web-push",
    summary: "Forgets a phone's Web Push subscription.",
    scopes: ["push:read"],
    answer: { status: 204 },
    errors: ["unknown_device", "store_unavailable"],
    handle: removeWebPush,
  },
];

const HOOKS: readonly Route[] = [
  {
    method: "GET",
    path: "/hooks",
    summary: "The installations whose hooks sent pushes, by the `hookId` in their data, with how many.",
    scopes: ["push:read"],
    answer: { status: 200, schema: HooksAnswer },
    handle: listHooks,
  },
  {
    method: "PUT",
    path: "/hooks/{id}",
    summary: "Mutes an installation's hooks, revokes them, or makes them active again.",
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
      "A one-time pairing code that lives 10 minutes, with what the host offers, if it does. Not for a phone's or a script's key.",
    scopes: ["push:read"],
    body: PairingRequest,
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
    summary: "Whether the code was claimed, and by which phone.",
    scopes: ["push:read"],
    answer: { status: 200, schema: PairingStatus },
    errors: ["unknown_pairing"],
    handle: pairingStatus,
  },
  {
    method: "POST",
    path: "/pairings/{code}/claim",
    summary:
      "Claims a code, once: the phone's own key and device id. With a phone's key it stays that phone.",
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
    summary: "The process answers.",
    answer: { status: 200, schema: Health },
    handleOpen: () => healthy(),
  },
  {
    method: "GET",
    path: "/readyz",
    summary: "Store and bus can be reached; 503 when not.",
    answer: { status: 200, schema: Health },
    handleOpen: ready,
  },
  {
    method: "GET",
    path: "/metrics",
    summary: "Prometheus text, for this machine or a key with the scope admin.",
    answer: { status: 200, type: "text/plain" },
    errors: ["unauthenticated", "missing_scope"],
    handleOpen: metrics,
  },
  {
    method: "GET",
    path: "/openapi.json",
    summary: "This document.",
    answer: { status: 200, type: "application/json" },
    handleOpen: (services) => {
      const body = describeOnce(services);
      const headers = { "content-type": "application/json", "content-length": String(body.length) };
      return new Response(body, { headers });
    },
  },
];

export const ROUTES: readonly Route[] = [...PUSHES, ...DEVICES, ...HOOKS, ...PAIRINGS, ...OPERATION];

const descriptions = new WeakMap<Services, Uint8Array<ArrayBuffer>>();

/** It needs no key and costs more than all other answers, so it is made once for each relay. */
function describeOnce(services: Services): Uint8Array<ArrayBuffer> {
  const known = descriptions.get(services);
  if (known !== undefined) return known;
  const text = JSON.stringify(openApi(ROUTES, { serverUrl: services.publicUrl ?? "/" }));
  const made = new TextEncoder().encode(text);
  descriptions.set(services, made);
  return made;
}
