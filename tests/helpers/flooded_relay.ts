/** A relay in a separate process under attack, or a bare HTTP server for comparison: its memory, and how long /healthz takes. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Scope } from "../../src/protocol/http.ts";
import { createKey, type NewKey } from "../../src/relay/api_keys.ts";
import { type RunningRelay, startRelay } from "../../src/relay/server.ts";
import { openStore } from "../../src/store/sqlite.ts";
import { until } from "./until.ts";

/** The size of the page's script. */
export const SCRIPT_BYTES = 262_144;
export const SCRIPT = "/app.js";

export interface FloodedRelay extends AsyncDisposable {
  url: string;
  wsUrl: string;
  port: number;
  key(scopes: readonly Scope[], fields?: Partial<NewKey>): Promise<string>;
  memoryMb(): Promise<number>;
  /** Resolves with the longest time that the event loop was blocked, in milliseconds. */
  blockedMs(): Promise<number>;
  /** Resolves with the lines of /metrics about budgets. */
  budgets(): Promise<string[]>;
}

/** `bare`: a server of `node:http` that answers the same two paths and has no limits of its own. */
export async function startFloodedRelay(kind: "relay" | "bare" = "relay"): Promise<FloodedRelay> {
  const root = await Deno.makeTempDir({ prefix: "svc-flood-" });
  const dataDir = `${root}/data`;
  await Deno.mkdir(`${root}/page`);
  await Deno.writeTextFile(`${root}/page/index.html`, "<!doctype html>");
  await Deno.writeTextFile(`${root}/page${SCRIPT}`, "x".repeat(SCRIPT_BYTES));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", import.meta.url, kind, root],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const stdin = child.stdin.getWriter();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { url, wsUrl, port } = JSON.parse((await lines.read()).value ?? "");
  return {
    url,
    wsUrl,
    port,
    async key(scopes, fields = {}) {
      const store = await openStore(dataDir);
      const { key } = await createKey(store, { name: "flood", scopes, ...fields });
      await store.close();
      return key;
    },
    memoryMb: () => residentMb(child.pid),
    async blockedMs() {
      await stdin.write(new Uint8Array([NEWLINE]));
      return Number((await lines.read()).value);
    },
    budgets: async () =>
      (await (await fetch(`${url}/metrics`)).text()).split("\n").filter((line) =>
        line.startsWith("svc_over_budget_total{")
      ),
    async [Symbol.asyncDispose](): Promise<void> {
      await stdin.close();
      await lines.cancel();
      await child.status;
      await Deno.remove(root, { recursive: true });
    },
  };
}

/** Returns the resident memory, from `ps`, which Linux and macOS both have. */
export async function residentMb(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "rss=", "-p", String(pid)] }).output();
  return Number(new TextDecoder().decode(stdout)) / 1_024;
}

export interface Watched {
  /** The relay's peak memory, in MB. */
  peakMb: number;
  /** How long each /healthz took, in milliseconds, shortest first. */
  healthMs: number[];
}

/** Requests /healthz repeatedly until the work is done and at least `least` answers have come. */
export async function watchRelay(
  relay: FloodedRelay,
  { work, least }: { work: Promise<unknown>; least: number },
): Promise<Watched> {
  let isDone = false;
  const done = work.finally(() => isDone = true);
  const watched: Watched = { peakMb: 0, healthMs: [] };
  while (!isDone || watched.healthMs.length < least) {
    const began = performance.now();
    const answer = await until(
      "an answer of /healthz",
      () => fetch(`${relay.url}/healthz`).catch(() => undefined),
    );
    await answer.text();
    watched.healthMs.push(performance.now() - began);
    watched.peakMb = Math.max(watched.peakMb, await relay.memoryMb());
  }
  await done;
  watched.healthMs.sort((one, other) => one - other);
  return watched;
}

/** Formats `74 MB at most; /healthz in 3 ms, 95 % within 9 ms, at most 12 ms (40 asked)`. */
export function watchedLine({ peakMb, healthMs }: Watched): string {
  const at = (share: number): string => (healthMs[Math.ceil(healthMs.length * share) - 1] ?? 0).toFixed(1);
  return `${Math.round(peakMb)} MB at most; /healthz in ${at(0.5)} ms, 95 % within ${at(0.95)} ms, at most ${
    at(1)
  } ms (${healthMs.length} asked)`;
}

const NEWLINE = 10;

type Started = Pick<RunningRelay, "url" | "wsUrl" | "port" | "stop">;

function startBare(): Promise<Started> {
  const script = new TextEncoder().encode("x".repeat(SCRIPT_BYTES));
  const server = createServer((request, response) => {
    response.setHeader("content-type", request.url === SCRIPT ? "text/javascript" : "application/json");
    response.end(request.url === SCRIPT ? script : '{"status":"ok"}');
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({ url: `http://127.0.0.1:${port}`, wsUrl: "", port, stop: () => Promise.resolve() });
    });
  });
}

const print = (line: string): Promise<number> => Deno.stdout.write(new TextEncoder().encode(`${line}\n`));

/** Prints its addresses, then for each input line how long the event loop was blocked; ends with its input. */
async function main(kind: string, root: string): Promise<void> {
  const started = kind === "bare" ? await startBare() : await startRelay({
    listen: "127.0.0.1:0",
    dataDir: `${root}/data`,
    phoneDirectory: `${root}/page`,
  });
  const { url, wsUrl, port } = started;
  await print(JSON.stringify({ url, wsUrl, port }));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  for await (const _line of Deno.stdin.readable) await print(String(delay.max / 1e6));
  await started.stop();
  Deno.exit(0);
}

if (import.meta.main) await main(Deno.args[0] ?? "", Deno.args[1] ?? "");
