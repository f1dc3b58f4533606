/** Marks svc's own hooks as reviewed in Codex, by asking its app server: only Codex knows how it hashes a hook. */
import * as z from "zod/mini";
import { errorText } from "../../async/error_text.ts";
import { encodeUtf8 } from "../../async/encodings.ts";
import { parseJson } from "../../protocol/json.ts";
import { VERSION } from "../../protocol/version.ts";
import { drain } from "../../runtime/input.ts";
import type { PipedChild } from "../../runtime/types.ts";
import { type FinishHost, type FinishResult, runsSvcHook } from "../setup.ts";

/** The user's alternative if Codex cannot be asked. */
const BY_HAND = 'start codex once and answer its question "Hooks need review" with trust';

/** Trusts svc's hooks among those that Codex lists; reports the tables that this added to config.toml. */
export async function trustCodexHooks(host: FinishHost, directory: string): Promise<FinishResult> {
  if (host.program === undefined) return byHand("codex is not installed");
  try {
    const keys = await withCodexServer(host, trustAll);
    if (keys === undefined) return byHand("it still does not trust them");
    const tables = { path: `${directory}/config.toml`, keys: keys.map((key) => ["hooks", "state", key]) };
    return { isOk: true, notes: [], tables };
  } catch (error) {
    return byHand(errorText(error));
  }
}

function byHand(why: string): FinishResult {
  return { isOk: false, notes: [`Codex does not run the hooks yet, because ${why}: ${BY_HAND}.`] };
}

/** The keys of svc's hooks once all are trusted; undefined if one is not. */
async function trustAll(ask: Ask, cwd: string): Promise<string[] | undefined> {
  const before = await codexHooks(ask, cwd);
  const open = before.filter((hook) => !isTrusted(hook));
  if (open.length > 0) {
    const value = Object.fromEntries(
      open.map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]),
    );
    const edit = { keyPath: "hooks.state", mergeStrategy: "upsert", value };
    await ask("config/batchWrite", { edits: [edit], reloadUserConfig: true });
  }
  const after = await codexHooks(ask, cwd);
  return after.length > 0 && after.every(isTrusted) ? after.map(({ key }) => key) : undefined;
}

const CodexHook = z.looseObject({
  key: z.string(),
  currentHash: z.string(),
  trustStatus: z.string(),
  command: z.optional(z.string()),
});
export type CodexHook = z.infer<typeof CodexHook>;

const HooksList = z.object({ data: z.array(z.looseObject({ hooks: z.array(CodexHook) })) });

/** Throws Codex's error. */
export async function codexHooks(ask: Ask, cwd: string): Promise<CodexHook[]> {
  const { data } = HooksList.parse(await ask("hooks/list", { cwds: [cwd] }));
  return data.flatMap(({ hooks }) => hooks).filter(({ command }) => runsSvcHook(command ?? ""));
}

export function isTrusted({ trustStatus }: CodexHook): boolean {
  return trustStatus === "trusted" || trustStatus === "managed";
}

/** The limit of the whole exchange; the server's start alone takes over 20 s on a busy machine. */
const LIMIT_MS = 90_000;
/** How long the server may take to end. A process that its launcher started may keep its output open forever. */
const END_MS = 10_000;

export type Ask = (method: string, params: unknown) => Promise<unknown>;

/** Throws Codex's error, or an Error if it does not answer in time. */
export async function withCodexServer<T>(
  host: FinishHost,
  work: (ask: Ask, cwd: string) => Promise<T>,
  { limitMs = LIMIT_MS, endMs = END_MS } = {},
): Promise<T> {
  const argv = [host.program ?? "codex", "app-server"];
  const child = host.commands.pipe(argv, { cwd: host.cwd, env: { ...host.env } });
  // Its launcher passes SIGTERM on to the server process, which would survive a SIGKILL.
  const noise = drain(child.stderr);
  const client = new Client(child);
  const timer = setTimeout(() => {
    child.kill("SIGTERM");
    client.giveUp();
  }, limitMs);
  try {
    const clientInfo = { name: "svc", title: "svc setup", version: VERSION };
    await client.ask("initialize", { clientInfo });
    await client.send({ method: "initialized" });
    return await work((method, params) => client.ask(method, params), host.cwd);
  } finally {
    child.stdin.close();
    const late = Promise.withResolvers<void>();
    const ending = setTimeout(late.resolve, endMs);
    const isOver = Promise.all([client.ended, noise, child.exited]).then(() => true);
    if (await Promise.race([isOver, late.promise]) === undefined) child.kill("SIGTERM");
    clearTimeout(ending);
    clearTimeout(timer);
  }
}

class Client {
  /** Resolves when Codex closes its output. */
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
    await this.#child.stdin.write(encodeUtf8(`${JSON.stringify(message)}\n`)).catch(() => {});
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of this.#child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
    }
    this.giveUp();
  }

  /** What was asked gets no answer anymore. */
  giveUp(): void {
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }

  /** Notifications and requests from Codex get no answer. */
  #take(line: string): void {
    const message = parseJson(line)?.value;
    if (typeof message !== "object" || message === null || !("id" in message) || "method" in message) return;
    const resolve = this.#waiting.get(Number(message.id));
    this.#waiting.delete(Number(message.id));
    resolve?.({ ...message });
  }
}
