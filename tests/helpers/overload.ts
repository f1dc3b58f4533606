/** Posts over many connections: as fast as the relay answers, which measures its capacity, or at a fixed rate regardless of answers. */
import { connect, type Socket } from "node:net";

export interface Load {
  port: number;
  keys: string[];
  connections: number;
  /** Requests per second, however long the answers take: if all connections are busy, requests wait for one of them. */
  perSecond?: number;
  seconds: number;
  /** Ends early after this many answers other than 202. */
  refusals?: number;
}

export interface Loaded {
  seconds: number;
  /** The number of answers by status. */
  statuses: Record<string, number>;
  /** How many requests were sent, if the rate is fixed. */
  sent: number;
  /** Connections that ended before their answer. */
  ended: number;
  /** Requests that were still unanswered long after the last one was sent. */
  waiting: number;
  /** Requests that were due but had no free connection. */
  queued: number;
  /** Answers other than 202 without Retry-After. */
  unexplained: number;
}

interface Answer {
  status: number;
  retryAfter: boolean;
  /** Where the next answer begins. */
  end: number;
}

function answerIn(text: string): Answer | undefined {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  if (text.length < end) return undefined;
  const retryAfter = /\r\nretry-after: \d/i.test(text.slice(0, head));
  return { status: Number(text.slice(9, 12)), retryAfter, end };
}

function requestOf(key: string): string {
  const body = JSON.stringify({ type: "note", body: "x".repeat(200) });
  return `POST /pushes/send HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Counts one answer. */
function count(loaded: Loaded, { status, retryAfter }: Answer): void {
  loaded.statuses[status] = (loaded.statuses[status] ?? 0) + 1;
  if (status !== 202 && !retryAfter) loaded.unexplained++;
}

const emptyLoaded = (seconds: number): Loaded => ({
  seconds,
  statuses: {},
  sent: 0,
  ended: 0,
  waiting: 0,
  queued: 0,
  unexplained: 0,
});

/** How often to check whether more requests are due. */
const TICK_MS = 5;
/** How long to wait for answers after the last request. */
const LAST_ANSWERS_MS = 10_000;

/** Opens a connection, spread over addresses because one address may have only a few; `answered` gets each answer. */
function connection(port: number, n: number, answered: (answer: Answer) => void): Socket {
  const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.8.${1 + n % 8}` });
  let text = "";
  socket.on("data", (part) => {
    text += part.toString("latin1");
    const answer = answerIn(text);
    if (answer === undefined) return;
    text = text.slice(answer.end);
    answered(answer);
  });
  socket.on("error", () => undefined);
  return socket;
}

/** Sends at the rate over idle connections, as an HTTP client with a pool does; reopens a closed one. */
async function loadAtRate({ port, keys, connections, seconds }: Load, perSecond: number): Promise<Loaded> {
  const loaded = emptyLoaded(seconds);
  const requests = keys.map(requestOf);
  const idle: Socket[] = [];
  let [waiting, queued, sent, opened] = [0, 0, 0, 0];
  const send = (socket: Socket): void => void socket.write(requests[sent++ % requests.length] ?? "");
  const isFree = (socket: Socket): void => {
    if (queued === 0) return void idle.push(socket);
    queued--;
    send(socket);
  };
  let isOver = false;
  const open = (): Socket => {
    const socket = connection(port, opened++, (answer) => {
      count(loaded, answer);
      waiting--;
      isFree(socket);
    });
    socket.on("close", () => {
      const at = idle.indexOf(socket);
      if (isOver) return;
      if (at >= 0) idle.splice(at, 1);
      else {
        loaded.ended++;
        waiting--;
      }
      isFree(open());
    });
    return socket;
  };
  idle.push(...Array.from({ length: connections }, open));
  const begun = performance.now();
  const elapsed = (): number => performance.now() - begun;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.floor(Math.min(elapsed() / 1_000, seconds) * perSecond);
      for (; loaded.sent < due; loaded.sent++, waiting++) {
        const socket = idle.pop();
        if (socket === undefined) queued++;
        else send(socket);
      }
      const left = seconds * 1_000 - elapsed();
      // Requests that found no free connection are not sent.
      if (left <= 0) {
        loaded.queued += queued;
        waiting -= queued;
        queued = 0;
      }
      if (left > 0 || (waiting > 0 && left > -LAST_ANSWERS_MS)) return;
      isOver = true;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  loaded.waiting = waiting;
  for (const socket of idle) socket.destroy();
  return loaded;
}

export async function load(options: Load): Promise<Loaded> {
  const { port, keys, connections, seconds, refusals = Infinity, perSecond } = options;
  if (perSecond !== undefined) return await loadAtRate(options, perSecond);
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  const loaded = emptyLoaded(seconds);
  let refused = 0;
  await Promise.all(Array.from({ length: connections }, (_, n) => {
    const request = requestOf(keys[n % keys.length] ?? "");
    return new Promise<void>((resolve) => {
      const socket = connection(port, n, (answer) => {
        count(loaded, answer);
        if (answer.status !== 202) refused++;
        if (performance.now() < until && refused < refusals) socket.write(request);
        else socket.destroy();
      });
      socket.on("connect", () => socket.write(request));
      socket.on("close", () => resolve());
    });
  }));
  loaded.seconds = (performance.now() - begun) / 1_000;
  return loaded;
}

/** Runs the load in a separate process. */
export async function runLoad(options: Load): Promise<Loaded> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", import.meta.url, JSON.stringify(options)],
    stderr: "inherit",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

if (import.meta.main) {
  const loaded = await load(JSON.parse(Deno.args[0] ?? ""));
  await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(loaded)));
  Deno.exit(0);
}
