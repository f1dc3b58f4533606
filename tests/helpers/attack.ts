/** Attacks on a relay, each in its own process: it prints its result as a line of JSON and exits when its stdin closes. */
import { type OwnProcess, runOwnProcess } from "./own_process.ts";
import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import { encodeFrame, type EventData, type EventName } from "../../src/protocol/frames.ts";
import { encodeBinaryFrame, KEY_FRAME } from "../../src/protocol/pane_frame.ts";
import { keyProtocol } from "../contract/relay_peer.ts";
import { until } from "./until.ts";

export interface Target {
  url: string;
  wsUrl: string;
  port: number;
  apiKey: string;
}

interface Attack {
  target: Target;
  /** Options of this kind of attack. */
  options: Record<string, unknown>;
}

/** Each resolves with its result, which is printed as JSON; its options limit how much it sends. */
const ATTACKS = {
  pipeline,
  postAll,
  inventories,
  longKeys,
  unfinished,
  credits,
  devices,
  pages,
} satisfies Record<string, (attack: Attack) => Promise<Record<string, unknown>>>;
export type AttackName = keyof typeof ATTACKS;

/** Starts the attack; its connections stay open until it is disposed. */
export const startAttack = (name: AttackName, attack: Attack): OwnProcess<Record<string, unknown>> =>
  runOwnProcess(import.meta.url, [name, JSON.stringify(attack)]);

/** Opens connections that pipeline requests for `path` and read nothing. */
async function pipeline({ target, options }: Attack): Promise<Record<string, unknown>> {
  const { path, connections, requests } = options as { path: string; connections: number; requests: number };
  const sockets: Socket[] = [];
  let ended = 0;
  for (let n = 0; n < connections; n++) {
    const socket = connect(target.port, "127.0.0.1");
    socket.pause();
    socket.on("error", () => undefined);
    socket.on("close", () => ended += 1);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(requests));
    sockets.push(socket);
    if (n % 50 === 49) await until("fifty connections", () => !socket.connecting);
  }
  await until("all connections", () => sockets.every(({ connecting }) => !connecting));
  return { connections, requests: connections * requests, ended };
}

/** Posts the longest body, `atOnce` at a time, until `most` were sent. */
async function postAll({ target, options }: Attack): Promise<Record<string, unknown>> {
  const { most, atOnce } = options as { most: number; atOnce: number };
  const statuses: Record<string, number> = {};
  let stored = 0;
  let last: unknown;
  const body = JSON.stringify({ type: "note", body: "x".repeat(16_384) });
  const headers = { "x-api-key": target.apiKey, "content-type": "application/json" };
  for (let sent = 0; sent < most; sent += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, async () => {
      const answer = await fetch(`${target.url}/pushes/send`, { method: "POST", headers, body });
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      const text = await answer.text();
      if (answer.ok) stored += body.length;
      else last = { code: JSON.parse(text).code, retryAfter: Number(answer.headers.get("retry-after")) };
    }));
  }
  return { statuses, stored, last };
}

/** Sends inventories of 200 kB as fast as possible, as its own listener. */
async function inventories({ target, options }: Attack): Promise<Record<string, unknown>> {
  const { most } = options as { most: number };
  const client = await greeted(target, { role: "listener", deviceId: "dev_listener_ffffffff" });
  const entry = { ...ENTRY, title: "x".repeat(200_000) };
  for (let n = 0; n < most && client.closed === undefined; n++) {
    client.send("listener.sessions", { sequence: n, sessions: [entry] });
    await until("room", () => client.closed !== undefined || client.socket.bufferedAmount < 2_000_000);
  }
  const closed = await until("the end", () => client.closed);
  return { closed, stored: client.received("listener.stored") };
}

/** Sends keystroke frames of 1 MB to its own mirror, and reconnects whenever it is closed. */
async function longKeys({ target, options }: Attack): Promise<Record<string, unknown>> {
  const { frames, deviceId, session } = options as { frames: number; deviceId: string; session: string };
  const closes: Record<string, number> = {};
  for (let sent = 0; sent < frames;) {
    const client = await greeted(target, { role: "phone" });
    client.send("pane.open", { stream: 1, agentSessionName: session, deviceId });
    const frame = encodeBinaryFrame({ kind: KEY_FRAME, stream: 1, payload: new Uint8Array(1_000_000) });
    for (; sent < frames && client.closed === undefined; sent++) {
      client.socket.send(frame);
      await until("room", () => client.closed !== undefined || client.socket.bufferedAmount < 2_000_000);
    }
    const { code } = await until("the end", () => client.closed);
    closes[code] = (closes[code] ?? 0) + 1;
  }
  return { closes };
}

/** Begins a long message on each of many sockets, and completes none. */
async function unfinished({ target, options }: Attack): Promise<Record<string, unknown>> {
  const { sockets, bytes } = options as { sockets: number; bytes: number };
  const clients: Client[] = [];
  for (let n = 0; n < sockets; n++) {
    const client = await greeted(target, { role: "script", deviceId: "dev_script_unfinished" });
    client.socket.send(new Uint8Array(bytes), { fin: false });
    clients.push(client);
  }
  const answered = new Set<Client>();
  for (const client of clients) {
    client.socket.on("pong", () => answered.add(client));
    if (client.socket.readyState === WebSocket.OPEN) client.socket.ping();
  }
  const isDone = (client: Client): boolean => client.closed !== undefined || answered.has(client);
  await until("an answer to each, or its end", () => clients.every(isDone));
  return countedCloses(clients);
}

/** Opens a mirror on each of many sockets and grants credit on all of them without a pause. */
async function credits({ target, options }: Attack): Promise<Record<string, unknown>> {
  const { sockets, frames, deviceId, session } = options as {
    sockets: number;
    frames: number;
    deviceId: string;
    session: string;
  };
  const clients = await Promise.all(
    Array.from({ length: sockets }, () => greeted(target, { role: "phone" })),
  );
  for (const client of clients) {
    client.send("pane.open", { stream: 1, agentSessionName: session, deviceId });
    for (let n = 0; n < frames; n++) client.send("pane.credit", { stream: 1, bytes: 1 });
    client.send("ping", {});
  }
  await until("an answer", () => clients.every((client) => client.closed ?? client.received("pong")));
  return countedCloses(clients);
}

function countedCloses(clients: readonly Client[]): { closes: Record<string, number> } {
  const closes: Record<string, number> = {};
  for (const { closed } of clients) {
    const how = closed?.code ?? "open";
    closes[how] = (closes[how] ?? 0) + 1;
  }
  return { closes };
}

/** Sends `hello` as one new device after another. */
async function devices({ target, options }: Attack): Promise<Record<string, unknown>> {
  const { most } = options as { most: number };
  let welcomed = 0;
  let closed: unknown;
  for (let n = 0; n < most && closed === undefined; n++) {
    const client = open(target);
    await until("an open socket", () => client.socket.readyState !== WebSocket.CONNECTING);
    client.send("hello", { ...HELLO, role: "script", deviceId: `dev_script_${n}` });
    await until("an answer", () => client.closed ?? client.received("welcome"));
    if (client.received("welcome") > 0) welcomed += 1;
    else closed = client.closed;
    client.socket.terminate();
  }
  return { welcomed, closed };
}

/** Reads full pages of the history without a pause. */
async function pages({ target, options }: Attack): Promise<Record<string, unknown>> {
  const { readers, each } = options as { readers: number; each: number };
  const statuses: Record<string, number> = {};
  let most = 0;
  await Promise.all(Array.from({ length: readers }, async () => {
    for (let n = 0; n < each; n++) {
      const headers = { "x-api-key": target.apiKey };
      const answer = await fetch(`${target.url}/pushes?before=end&limit=200`, { headers });
      most = Math.max(most, (await answer.text()).length);
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    }
  }));
  return { statuses, most };
}

const HELLO = { name: "attacker", version: "1.0.0", capabilities: [] };
const ENTRY = {
  name: "svc-x",
  project: "x",
  agent: "cc",
  agentLabel: "x",
  ordinal: 1,
  label: "x",
  state: "idle",
  stateSince: 1,
  attached: false,
  lastActivity: 1,
  cwd: "/",
  cols: 1,
  rows: 1,
  muted: false,
  addressable: true,
} as const;

interface Client {
  socket: WebSocket;
  closed: { code: number; reason: string } | undefined;
  send<E extends EventName>(event: E, data: EventData<E>): void;
  /** Returns how many frames of this event arrived. */
  received(event: EventName): number;
}

function open({ wsUrl, apiKey }: Target): Client {
  const socket = new WebSocket(wsUrl, ["svc.v1", keyProtocol(apiKey)], { perMessageDeflate: false });
  const events: string[] = [];
  const client: Client = {
    socket,
    closed: undefined,
    send: (event, data) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(encodeFrame(event, data));
    },
    received: (event) => events.filter((one) => one === event).length,
  };
  socket.on("message", (data, isBinary) => void (isBinary || events.push(JSON.parse(String(data)).event)));
  socket.on("close", (code, reason) => client.closed ??= { code, reason: String(reason) });
  socket.on("error", () => undefined);
  return client;
}

async function greeted(target: Target, hello: Partial<EventData<"hello">>): Promise<Client> {
  const client = open(target);
  await until("an open socket", () => client.socket.readyState !== WebSocket.CONNECTING);
  client.send("hello", { ...HELLO, role: "phone", ...hello });
  await until("a welcome", () => client.received("welcome") > 0 || client.closed !== undefined);
  return client;
}

async function main(name: AttackName, attack: Attack): Promise<never> {
  const found = await ATTACKS[name](attack);
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(found)}\n`));
  for await (const _nothing of Deno.stdin.readable);
  Deno.exit(0);
}

if (import.meta.main) await main(Deno.args[0] as AttackName, JSON.parse(Deno.args[1] ?? "{}"));
