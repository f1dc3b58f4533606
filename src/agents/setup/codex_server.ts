/** Speaks JSON-RPC with `codex app-server` over its stdin and stdout, for as long as some work takes. */
import { parseJson } from "../../protocol/json.ts";
import { VERSION } from "../../protocol/version.ts";
import type { PipedChild } from "../../runtime/types.ts";
import type { FinishHost } from "./types.ts";

/** The whole conversation. */
const LIMIT_MS = 20_000;

export type Ask = (method: string, params: unknown) => Promise<unknown>;

/** Throws what Codex answered, or that it gave no answer in time. */
export async function withCodexServer<T>(
  host: FinishHost,
  work: (ask: Ask, cwd: string) => Promise<T>,
): Promise<T> {
  const argv = [host.program ?? "codex", "app-server"];
  const child = host.commands.pipe(argv, { cwd: host.cwd, env: { ...host.env } });
  // Its launcher hands SIGTERM on to the server proper; after SIGKILL that one would live on.
  const timer = setTimeout(() => child.kill("SIGTERM"), LIMIT_MS);
  const noise = drain(child.stderr);
  const client = new Client(child);
  try {
    const clientInfo = { name: "svc", title: "svc setup", version: VERSION };
    await client.ask("initialize", { clientInfo });
    await client.send({ method: "initialized" });
    return await work((method, params) => client.ask(method, params), host.cwd);
  } finally {
    child.stdin.close();
    await Promise.all([client.ended, noise, child.exited]);
    clearTimeout(timer);
  }
}

class Client {
  /** Resolves once Codex says no more. */
  readonly ended: Promise<void>;
  #child: PipedChild;
  #lastId = 0;
  #waiting = new Map<number, (answer: Record<string, unknown> | undefined) => void>();

  constructor(child: PipedChild) {
    this.#child = child;
    this.ended = this.#read();
  }

  async ask(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#lastId;
    const answered = new Promise<Record<string, unknown> | undefined>((resolve) =>
      this.#waiting.set(id, resolve)
    );
    await this.send({ id, method, params });
    const answer = await answered;
    if (answer === undefined) throw new Error(`its app server gave no answer to "${method}"`);
    if ("error" in answer) {
      throw new Error(`its app server refused "${method}": ${JSON.stringify(answer.error)}`);
    }
    return answer.result;
  }

  async send(message: Record<string, unknown>): Promise<void> {
    await this.#child.stdin.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`)).catch(() => {});
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of this.#child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
    }
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }

  /** Notifications, and requests of its own, get no answer. */
  #take(line: string): void {
    const message = parseJson(line)?.value;
    if (typeof message !== "object" || message === null || !("id" in message) || "method" in message) return;
    const resolve = this.#waiting.get(Number(message.id));
    this.#waiting.delete(Number(message.id));
    resolve?.({ ...message });
  }
}

async function drain(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}
