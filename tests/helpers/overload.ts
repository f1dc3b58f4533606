/** Posts as fast as the relay answers, over many connections: its capacity with many keys, and overload with few. */
import { connect } from "node:net";

export interface Load {
  port: number;
  keys: string[];
  connections: number;
  seconds: number;
  /** Ends earlier after so many answers that are not 202. */
  refusals?: number;
}

export interface Loaded {
  seconds: number;
  /** How many answers came, by status. */
  statuses: Record<string, number>;
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

export async function load({ port, keys, connections, seconds, refusals = Infinity }: Load): Promise<Loaded> {
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  const loaded: Loaded = { seconds, statuses: {}, unexplained: 0 };
  let refused = 0;
  await Promise.all(Array.from({ length: connections }, (_, n) => {
    const request = requestOf(keys[n % keys.length] ?? "");
    return new Promise<void>((resolve) => {
      // Spread over addresses: one address has few connections.
      const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.8.${1 + n % 8}` });
      let text = "";
      socket.on("connect", () => socket.write(request));
      socket.on("data", (part) => {
        text += part.toString("latin1");
        const answer = answerIn(text);
        if (answer === undefined) return;
        text = text.slice(answer.end);
        loaded.statuses[answer.status] = (loaded.statuses[answer.status] ?? 0) + 1;
        if (answer.status !== 202) refused++;
        if (answer.status !== 202 && !answer.retryAfter) loaded.unexplained++;
        if (performance.now() < until && refused < refusals) socket.write(request);
        else socket.destroy();
      });
      socket.on("error", () => undefined);
      socket.on("close", () => resolve());
    });
  }));
  loaded.seconds = (performance.now() - begun) / 1_000;
  return loaded;
}

/** In a process of its own. */
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
}
