/** A relay in its own process, under attack: its memory, and how long /healthz takes. */
import type { Scope } from "../../src/protocol/http.ts";
import { createKey, type NewKey } from "../../src/relay/api_keys.ts";
import { startRelay } from "../../src/relay/server.ts";
import { openStore } from "../../src/store/sqlite.ts";
import { until } from "./until.ts";

/** As large as the page's script. */
export const SCRIPT_BYTES = 262_144;
export const SCRIPT = "/app.js";

export interface FloodedRelay extends AsyncDisposable {
  url: string;
  wsUrl: string;
  port: number;
  key(scopes: readonly Scope[], fields?: Partial<NewKey>): Promise<string>;
  memoryMb(): Promise<number>;
  /** The lines of /metrics about budgets. */
  budgets(): Promise<string[]>;
}

export async function startFloodedRelay(): Promise<FloodedRelay> {
  const root = await Deno.makeTempDir({ prefix: "svc-flood-" });
  const dataDir = `${root}/data`;
  await Deno.mkdir(`${root}/page`);
  await Deno.writeTextFile(`${root}/page/index.html`, "<!doctype html>");
  await Deno.writeTextFile(`${root}/page${SCRIPT}`, "x".repeat(SCRIPT_BYTES));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", import.meta.url, root],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
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
    budgets: async () =>
      (await (await fetch(`${url}/metrics`)).text()).split("\n").filter((line) =>
        line.startsWith("svc_over_budget_total{")
      ),
    async [Symbol.asyncDispose](): Promise<void> {
      await child.stdin.close();
      await lines.cancel();
      await child.status;
      await Deno.remove(root, { recursive: true });
    },
  };
}

/** Resident memory from `ps`, which Linux and macOS both have. */
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

/** `74 MB at most; /healthz in 3 ms, 95 % within 9 ms, at most 12 ms (40 asked)`. */
export function watchedLine({ peakMb, healthMs }: Watched): string {
  const at = (share: number): string => (healthMs[Math.ceil(healthMs.length * share) - 1] ?? 0).toFixed(1);
  return `${Math.round(peakMb)} MB at most; /healthz in ${at(0.5)} ms, 95 % within ${at(0.95)} ms, at most ${
    at(1)
  } ms (${healthMs.length} asked)`;
}

async function main(root: string): Promise<void> {
  const relay = await startRelay({
    listen: "127.0.0.1:0",
    dataDir: `${root}/data`,
    phoneDirectory: `${root}/page`,
  });
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(relay)}\n`));
  for await (const _nothing of Deno.stdin.readable);
  await relay.stop();
  Deno.exit(0);
}

if (import.meta.main) await main(Deno.args[0] ?? "");
