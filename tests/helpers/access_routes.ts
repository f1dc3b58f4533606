/** Calls every HTTP route with every kind of key, and records the answers. */
import assert from "node:assert/strict";
import type { Route } from "../../src/relay/handler.ts";
import { ROUTES } from "../../src/relay/routes.ts";
import {
  type AccessStage,
  HOOK,
  HOST,
  KEY_KINDS,
  type KeyKind,
  makeAccessStage,
  SECRET,
  SESSION,
} from "./access_stage.ts";
import { SUBSCRIPTION } from "./push_vendor.ts";

interface Probe {
  /** What is requested, if the route alone does not make it clear. */
  about?: string;
  path(stage: AccessStage): string;
  body?: unknown | ((stage: AccessStage) => unknown);
}

const COMMAND = { type: "agent.command", agentSessionName: SESSION, targetDeviceId: HOST, body: "x" };
const CANCEL = { type: "agent.cancel", agentSessionName: SESSION, targetDeviceId: HOST };
const END = { type: "agent.end", agentSessionName: SESSION, targetDeviceId: HOST, body: "end 1" };
const START = { type: "agent.start", targetDeviceId: HOST, data: { agent: "echo", project: "p" } };
const REJECT = { ...END, type: "dialog.answer", body: "reject 1" };
const ASK = {
  type: "ask",
  body: "?",
  data: { kind: "ask", timeoutSeconds: 300, replyTo: "dev_script_asker" },
};
const plain = (path: string): [Probe] => [{ path: () => path }];

/** The requests for each route, by `method path`. */
const PROBES: Readonly<Record<string, readonly Probe[]>> = {
  "POST /pushes/send": [
    { about: "a message to the host", path: () => "/pushes/send", body: COMMAND },
    { about: "the start of an agent", path: () => "/pushes/send", body: START },
    { about: "the end of an agent", path: () => "/pushes/send", body: END },
    { about: "the answer to a dialog", path: () => "/pushes/send", body: REJECT },
    { about: "a note", path: () => "/pushes/send", body: { type: "note", body: "x" } },
    {
      about: "a cancellation of the phone's message",
      path: () => "/pushes/send",
      body: ({ pushId }: AccessStage) => ({ ...CANCEL, inReplyTo: pushId }),
    },
    { about: "a question answered to the host's own asker", path: () => "/pushes/send", body: ASK },
  ],
  "GET /pushes/{id}": [{ path: ({ pushId }) => `/pushes/${pushId}` }],
  "GET /pushes": plain("/pushes"),
  "GET /sessions": plain("/sessions"),
  "GET /devices": plain("/devices"),
  "DELETE /devices/{id}": plain(`/devices/${HOST}`),
  "DELETE /devices/{id}/owner": plain(`/devices/${HOST}/owner`),
  "PUT /devices/{id}/web-push": [
    { about: "the phone's", path: ({ phoneId }) => `/devices/${phoneId}/web-push`, body: SUBSCRIPTION },
  ],
  "DELETE /devices/{id}/web-push": [
    { about: "the phone's", path: ({ phoneId }) => `/devices/${phoneId}/web-push` },
  ],
  "GET /web-push/key": plain("/web-push/key"),
  "POST /devices/{id}/web-push/test": [
    {
      about: "the phone's",
      path: ({ phoneId }) => `/devices/${phoneId}/web-push/test`,
      body: { id: "00000000-0000-4000-8000-000000000009" },
    },
  ],
  "PUT /pushes/{id}/shown": [
    {
      about: "by the phone",
      path: ({ noteId }) => `/pushes/${noteId}/shown`,
      body: ({ phoneId }: AccessStage) => ({ deviceId: phoneId, how: "page" }),
    },
  ],
  "GET /hooks": plain("/hooks"),
  "PUT /hooks/{id}": [{ path: () => `/hooks/${HOOK}`, body: { state: "muted" } }],
  "POST /pairings": plain("/pairings"),
  "GET /pairings/{code}": [{ about: "the host's", path: ({ code }) => `/pairings/${code}` }],
  "POST /pairings/{code}/claim": [{ path: ({ code }) => `/pairings/${code}/claim`, body: { name: "new" } }],
  "GET /healthz": plain("/healthz"),
  "GET /readyz": plain("/readyz"),
  "GET /metrics": [{ about: "from another machine", path: () => "/metrics" }],
  "GET /openapi.json": plain("/openapi.json"),
};

/** Returns rows with the request and the answer to each kind of key. Throws for a route without a probe. */
export async function walkRoutes(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const route of ROUTES) {
    const { method, path } = route;
    const probes = PROBES[`${method} ${path}`];
    if (probes === undefined) {
      throw new Error(`no probe for ${method} ${path}: add one to tests/helpers/access_routes.ts`);
    }
    for (const probe of probes) {
      const cells: string[] = [];
      for (const kind of KEY_KINDS) cells.push(await answerOf(kind, { route, probe }));
      const about = probe.about === undefined ? "" : `, ${probe.about}`;
      rows.push([`\`${method} ${path}\`${about}`, ...cells]);
    }
  }
  return rows;
}

/** Resolves with `yes`, `its own` (an answer about the caller's own account) or the problem's code. */
async function answerOf(kind: KeyKind, { route, probe }: { route: Route; probe: Probe }): Promise<string> {
  await using stage = await makeAccessStage();
  const answer = await stage.relay.request(route.method, probe.path(stage), {
    key: stage.keys[kind],
    body: typeof probe.body === "function" ? probe.body(stage) : probe.body,
  });
  const text = await answer.text();
  if (!answer.ok) return `\`${JSON.parse(text).code}\``;
  if (kind !== "other account" || !("scopes" in route)) return "yes";
  for (const mark of [SECRET, HOST, HOOK]) {
    assert.ok(!text.includes(mark), `${route.path} shows ${mark} to another account`);
  }
  return "its own";
}
