/** Many pushes at once through the relay, each durable before its answer, compared with mosquitto and with SQLite alone. */
import { createRelayApi } from "../../src/client/api.ts";
import { RelayError } from "../../src/client/relay_error.ts";
import { FRAME_RATES } from "../../src/relay/budgets.ts";
import { openDatabase } from "../../src/runtime/sqlite.ts";
import { startSvc } from "../../tests/helpers/program.ts";
import { makeSandbox } from "../../tests/helpers/sandbox.ts";
import { until } from "../../tests/helpers/until.ts";
import { denoCommand } from "../bare.ts";
import { figures, type Row, type Sample, type Stage, timed } from "../measure.ts";
import { MqttClient, startMosquitto } from "../mqtt.ts";
import { LISTENER, makeRelayStage } from "../relay_stage.ts";

const SENDERS = 256;
/** Messages that each sender sends per sample, one after the other. */
const EACH = 8;
const BODY = "a message of the bench, of a length that people write on a phone: about a hundred characters. ";
const TARGET = { type: "agent.command", targetDeviceId: LISTENER };
const TOPIC = "listener";
const NOT_INSTALLED = "mosquitto is not installed (apt-get install mosquitto)";

/** Sends a message; resolves once it is accepted. */
type Send = (sender: number, body: string) => Promise<unknown>;

interface Carrier {
  send: Send;
  /** When each body arrived, by `performance.now()`. */
  arrived: Map<string, number>;
  /** Resolves when the same number may be sent again. */
  rest?(): Promise<unknown>;
}

let count = 0;

interface Burst {
  /** Time from sending each message to its arrival. */
  times: number[];
  /** Time from each message's 202 to its arrival; 0 if it arrived first. */
  lags: number[];
  /** Accepted messages per second. */
  perSecond: number;
}

async function burst({ send, arrived, rest }: Carrier): Promise<Burst> {
  const sent = new Map<string, number>();
  const answered = new Map<string, number>();
  const took = await timed(() =>
    Promise.all(Array.from({ length: SENDERS }, async (_, sender) => {
      for (let each = 0; each < EACH; each++) {
        const body = `${BODY}${++count}`;
        sent.set(body, performance.now());
        await send(sender, body);
        answered.set(body, performance.now());
      }
    }))
  );
  await until("every message", () => [...sent.keys()].every((body) => arrived.has(body)));
  const since = (begun: Map<string, number>): number[] =>
    [...begun].map(([body, at]) => Math.max(0, (arrived.get(body) ?? NaN) - at));
  const found = { times: since(sent), lags: since(answered), perSecond: sent.size * 1_000 / took };
  arrived.clear();
  await rest?.();
  return found;
}

async function openRelay(): Promise<Carrier & { close(): Promise<void> }> {
  const stage = await makeRelayStage({ senders: SENDERS });
  const arrived = new Map<string, number>();
  stage.listener.socket.on("message", () => {
    const frame = stage.listener.frames.pop();
    if (frame?.event !== "push.new") return;
    arrived.set(frame.data.body ?? "", performance.now());
    stage.listener.send("push.ack", { id: frame.data.id, outcome: "submitted", final: true });
  });
  // Waits until the listener's budget for acknowledgements is full again: the relay closes the socket when it is
  // exceeded.
  const restMs = SENDERS * EACH * 1_000 / FRAME_RATES["push.ack"].perSecond;
  const rest = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, restMs));
  /** Retries what an overloaded relay refuses, as a client does. */
  const send: Send = async (sender, body) => {
    const push = { ...TARGET, agentSessionName: `svc-${sender}`, body };
    await stage.senders[sender]?.sendPush(push).catch(async (error) => {
      if (!(error instanceof RelayError) || error.retryAfterSeconds === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, (error.retryAfterSeconds ?? 0) * 1_000));
      await send(sender, body);
    });
  };
  return { send, arrived, rest, close: async () => await stage[Symbol.asyncDispose]() };
}

async function openMosquitto(): Promise<Carrier & { missing?: string; close(): Promise<void> }> {
  const sandbox = await makeSandbox();
  const arrived = new Map<string, number>();
  const port = await startMosquitto(sandbox);
  const clients: MqttClient[] = [];
  const close = async (): Promise<void> => {
    for (const client of clients) client.close();
    await sandbox[Symbol.asyncDispose]();
  };
  const none = { send: () => Promise.resolve(), arrived, close };
  if (port === undefined) return { ...none, missing: NOT_INSTALLED };
  const listener = await MqttClient.connect(port, (text) => void arrived.set(text, performance.now()));
  await listener.subscribe(TOPIC);
  clients.push(listener);
  for (let sender = 0; sender < SENDERS; sender++) clients.push(await MqttClient.connect(port));
  const send: Send = async (sender, body) => await clients[sender + 1]?.publish(TOPIC, body);
  return { send, arrived, close };
}

async function openBoth(of: (found: Burst) => number): Promise<Stage> {
  const [own, other] = [await openRelay(), await openMosquitto()];
  const sample = (carrier: Carrier): Sample => async () => of(await burst(carrier));
  return {
    ours: sample(own),
    theirs: other.missing === undefined ? sample(other) : undefined,
    missing: other.missing,
    async close() {
      await own.close();
      await other.close();
    },
  };
}

async function openBeside(open: () => Promise<{ sample: Sample; close(): Promise<void> }>): Promise<Stage> {
  const [own, alone] = [await openRelay(), await open()];
  return {
    ours: async () => (await burst(own)).perSecond,
    theirs: alone.sample,
    async close() {
      await own.close();
      await alone.close();
    },
  };
}

/** One row per commit, synced, from one thread. */
async function openSqlite(): Promise<{ sample: Sample; close(): Promise<void> }> {
  const sandbox = await makeSandbox();
  const database = await openDatabase(`${sandbox.root}/alone.db`, { busyMs: 0 });
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (id TEXT PRIMARY KEY, body TEXT)",
  );
  const insert = database.prepare("INSERT INTO rows VALUES (?, ?)");
  const rows = SENDERS * EACH;
  const sample = async (): Promise<number> => {
    const took = await timed(() => {
      for (let row = 0; row < rows; row++) insert.run(crypto.randomUUID(), BODY);
      return Promise.resolve();
    });
    return rows * 1_000 / took;
  };
  const close = async (): Promise<void> => {
    database.close();
    await sandbox[Symbol.asyncDispose]();
  };
  return { sample, close };
}

/** The same senders, with a server that answers at once. */
async function openAnswers(): Promise<{ sample: Sample; close(): Promise<void> }> {
  const sandbox = await makeSandbox();
  const server = startSvc(sandbox, [], { launch: denoCommand("../answering_server.ts", import.meta.url) });
  const [, baseUrl = ""] = await server.line(/^listening on (\S+)$/);
  const senders = Array.from({ length: SENDERS }, () => createRelayApi({ baseUrl, apiKey: "none" }));
  const arrived = new Map<string, number>();
  const send: Send = async (sender, body) => {
    await senders[sender]?.sendPush({ ...TARGET, agentSessionName: `svc-${sender}`, body });
    arrived.set(body, performance.now());
  };
  return {
    sample: async () => (await burst({ send, arrived })).perSecond,
    close: async () => await sandbox[Symbol.asyncDispose](),
  };
}

export const deliveryRows: Row[] = [
  {
    name: `delivery: ${SENDERS} pushes in flight to one listener, half arrived after`,
    beside: "mosquitto QoS 1",
    aim: "p50 < 100 ms",
    samples: 10,
    open: () => openBoth(({ times }) => figures(times).median),
  },
  {
    name: `delivery: ${SENDERS} pushes in flight to one listener, the slowest behind its answer`,
    beside: "mosquitto QoS 1",
    aim: "< 100 ms",
    samples: 10,
    open: () => openBoth(({ lags }) => figures(lags).max),
  },
  {
    name: `throughput: pushes accepted a second, ${SENDERS} senders`,
    beside: "mosquitto QoS 1, which does not sync before its answer",
    aim: ">= 0.3",
    unit: "a second",
    samples: 10,
    open: () => openBoth(({ perSecond }) => perSecond),
  },
  {
    name: `throughput: pushes accepted a second, ${SENDERS} senders, beside the store alone`,
    beside: "SQLite, one row a commit from one thread",
    aim: ">= 0.7",
    unit: "a second",
    samples: 10,
    open: () => openBeside(openSqlite),
  },
  {
    name: `throughput: pushes accepted a second, ${SENDERS} senders, beside HTTP alone`,
    beside: "a server on Deno that only reads and answers",
    aim: "a figure",
    unit: "a second",
    samples: 10,
    open: () => openBeside(openAnswers),
  },
];
