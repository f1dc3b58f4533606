/** Sends every WebSocket event with every kind of key, and records its effect on the host and its phone. */
import assert from "node:assert/strict";
import { type EventData, type EventName, EVENTS } from "../../src/protocol/frames.ts";
import { encodeBinaryFrame, KEY_FRAME, PANE_FRAME } from "../../src/protocol/pane_frame.ts";
import { Refusal } from "../../src/relay/handler.ts";
import { type FakeClient, helloOf, sessionNamed } from "../unit/relay/fixture.ts";
import {
  type AccessStage,
  ASKER,
  HOST,
  KEY_KINDS,
  type KeyKind,
  makeAccessStage,
  OTHER_HOST,
  SESSION,
} from "./access_stage.ts";

type Hello = EventData<"hello">;

/** The `hello` of each kind of key when `hello` is not under test. */
const OWN_HELLO: Readonly<Record<KeyKind, Partial<Hello>>> = {
  "no key": {},
  script: { role: "script", deviceId: "dev_script_walker" },
  phone: { role: "phone" },
  "other host's phone": { role: "phone" },
  "read-only": { role: "phone" },
  listener: { role: "listener", deviceId: HOST },
  "other listener": { role: "listener", deviceId: OTHER_HOST },
  "any role": { role: "listener", deviceId: "dev_listener_cccccccc" },
  revoked: {},
  admin: { role: "phone" },
  "other account": { role: "listener", deviceId: HOST },
};

const GREETINGS: readonly [string, (stage: AccessStage) => Partial<Hello>][] = [
  ["as the host", () => ({ role: "listener", deviceId: HOST })],
  ["as a listener that nobody owns", () => ({ role: "listener", deviceId: "dev_listener_dddddddd" })],
  ["as the phone", ({ phoneId }) => ({ role: "phone", deviceId: phoneId })],
  ["as a phone, without an id", () => ({ role: "phone" })],
  ["as the host's script", () => ({ role: "script", deviceId: ASKER })],
  ["as a script, without an id", () => ({ role: "script" })],
];

interface Act {
  /** The name of a binary frame, which is not an event. */
  name?: string;
  /** Sends the frame; resolves with true if it had the effect that it has for a permitted sender. */
  does(stage: AccessStage, client: FakeClient): Promise<boolean>;
}

const grew = async (count: () => number, act: () => Promise<void>): Promise<boolean> => {
  const before = count();
  await act();
  return count() > before;
};

/** An event that only the relay may send: it must have no effect, whoever sends it. */
const relayOnly = <E extends EventName>(event: E, data: EventData<E>): Act => ({
  does: ({ host, phone }, client) =>
    grew(
      () => [host, phone].filter((one) => one !== client).flatMap((one) => one.received(event)).length,
      () => client.send(event, data),
    ),
});

const sessions = (name: string): EventData<"listener.sessions"> => ({
  sequence: 9,
  sessions: [sessionNamed(name)],
});

/** What is sent, by event; `hello` has its own rows. */
const ACTS: Readonly<Record<Exclude<EventName, "hello">, readonly Act[]>> = {
  welcome: [
    relayOnly("welcome", { relayVersion: "", protocolVersion: 1, deviceId: HOST, now: 1, limits: {} }),
  ],
  ping: [{
    does: (_stage, client) => grew(() => client.received("pong").length, () => client.send("ping", {})),
  }],
  pong: [relayOnly("pong", {})],
  "push.new": [
    relayOnly("push.new", { id: "0".repeat(8), type: "note", from: "x", createdAt: 1, expiresAt: 2 }),
  ],
  "push.soon": [
    relayOnly("push.soon", { id: "00000000-0000-4000-8000-000000000001", agentSessionName: SESSION }),
  ],
  "push.ack": [{
    async does({ relay, pushId }, client) {
      await client.send("push.ack", { id: pushId, outcome: "submitted", final: true });
      const push = await relay.services.store.findPush({ account: "default", id: pushId });
      return push?.receipt.state === "submitted";
    },
  }],
  "push.updated": [
    relayOnly("push.updated", { id: "0".repeat(8), receipt: { state: "submitted", final: true, at: {} } }),
  ],
  "listener.sessions": [{
    async does({ relay }, client) {
      await client.send("listener.sessions", sessions("svc-forged"));
      const kept = await relay.services.store.listInventories("default");
      return JSON.stringify(kept.find(({ deviceId }) => deviceId === HOST)).includes("svc-forged");
    },
  }],
  "listener.stored": [relayOnly("listener.stored", { count: 1 })],
  "listener.rejected": [relayOnly("listener.rejected", { reason: "x" })],
  "sessions.changed": [
    relayOnly("sessions.changed", { deviceId: HOST, host: "x", online: true, lastSeen: 1, sessions: [] }),
  ],
  "pane.open": [{
    does: ({ host }, client) =>
      grew(
        () => host.received("pane.open").length,
        () => client.send("pane.open", { stream: 7, agentSessionName: SESSION, deviceId: HOST }),
      ),
  }],
  "pane.opened": [{
    does: ({ phone, stream }, client) =>
      grew(
        () => phone.received("pane.opened").length,
        () => client.send("pane.opened", { stream, cols: 80, rows: 24 }),
      ),
  }],
  "pane.closed": [{
    does: ({ phone, host, stream }, client) =>
      grew(
        () => phone.received("pane.closed").length + host.received("pane.closed").length,
        async () => {
          for (const number of [stream, 1]) await client.send("pane.closed", { stream: number, reason: "x" });
        },
      ),
  }],
  "pane.credit": [{
    does: ({ host }, client) =>
      grew(
        () => host.received("pane.credit").length,
        () => client.send("pane.credit", { stream: 1, bytes: 9 }),
      ),
  }],
  "pane.scrollback": [{
    does: ({ host }, client) =>
      grew(
        () => host.received("pane.scrollback").length,
        () => client.send("pane.scrollback", { stream: 1, lines: 9 }),
      ),
  }],
};

const bytesAt = ({ socket }: FakeClient): number =>
  socket.sent.filter((data) => typeof data !== "string").length;

const BYTES: readonly Required<Act>[] = [
  {
    name: "keystrokes in the phone's mirror",
    does: ({ host }, client) => grew(() => bytesAt(host), () => sendBytes(client, KEY_FRAME, 1)),
  },
  {
    name: "a pane frame of the host's",
    does: ({ phone, stream }, client) =>
      grew(() => bytesAt(phone), () => sendBytes(client, PANE_FRAME, stream)),
  },
];

function sendBytes(client: FakeClient, kind: number, stream: number): Promise<void> {
  client.socket.handlers?.bytes(encodeBinaryFrame({ kind, stream, payload: new Uint8Array(4) }));
  return Promise.resolve();
}

/** Returns rows with what was sent and its effect for each kind of key. */
export async function walkEvents(): Promise<string[][]> {
  assert.deepEqual(Object.keys(ACTS).sort(), Object.keys(EVENTS).filter((name) => name !== "hello").sort());
  const rows: string[][] = [];
  const row = async (name: string, cell: (kind: KeyKind) => Promise<string>): Promise<void> => {
    const cells: string[] = [];
    for (const kind of KEY_KINDS) cells.push(await cell(kind));
    rows.push([name, ...cells]);
  };
  for (const [about, hello] of GREETINGS) await row(`\`hello\` ${about}`, (kind) => greeted(kind, hello));
  for (const [event, acts] of Object.entries(ACTS)) {
    for (const act of acts) await row(`\`${event}\``, (kind) => effect(kind, act));
  }
  for (const act of BYTES) await row(act.name, (kind) => effect(kind, act));
  return rows;
}

async function greeted(kind: KeyKind, hello: (stage: AccessStage) => Partial<Hello>): Promise<string> {
  await using stage = await makeAccessStage();
  const client = await opened(stage, kind);
  if (typeof client === "string") return client;
  await client.send("hello", helloOf(hello(stage)));
  return outcomeOf(client) ?? (kind === "other account" ? "its own" : "yes");
}

async function effect(kind: KeyKind, act: Act): Promise<string> {
  await using stage = await makeAccessStage();
  const client = kind === "listener"
    ? stage.host
    : kind === "phone"
    ? stage.phone
    : await opened(stage, kind);
  if (typeof client === "string") return client;
  if (client !== stage.host && client !== stage.phone) await client.send("hello", helloOf(OWN_HELLO[kind]));
  assert.equal(client.socket.closedWith, undefined, kind);
  return await act.does(stage, client) ? "yes" : outcomeOf(client) ?? "nothing";
}

/** Resolves with the socket, or the code with which the handshake is refused. */
async function opened({ relay, keys }: AccessStage, kind: KeyKind): Promise<FakeClient | string> {
  try {
    return await relay.open(keys[kind] ?? "");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return `\`${(await error.response.json()).code}\``;
  }
}

function outcomeOf({ socket }: FakeClient): string | undefined {
  const { closedWith } = socket;
  if (closedWith === undefined) return undefined;
  const word = /^(device_taken|wrong_role)/.exec(closedWith.reason)?.[1];
  return word === undefined ? `closed, ${closedWith.code}` : `\`${word}\``;
}
