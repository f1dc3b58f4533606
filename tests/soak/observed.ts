/** Runs svc and records its memory at intervals, each time after a garbage collection; for tests it can also leak. */
import { appendFileSync } from "node:fs";

/** The content of `SVC_SOAK`. */
export interface Observation {
  /** Where each process writes its file. */
  folder: string;
  everyMs: number;
  /** Bytes that each process leaks every second, on purpose. */
  leak: number;
}

/** One line of a process's file. */
export interface MemoryLine {
  /** Seconds since a fixed moment. */
  at: number;
  rssKb: number;
  /** Memory after a garbage collection: the heap, and the buffers outside it. */
  heapKb: number;
  buffersKb: number;
}

const PROCESSES = ["server", "listener", "mcp"];
const KILOBYTE = 1_024;
const SECOND_MS = 1_000;

function observe(name: string, { folder, everyMs, leak }: Observation): void {
  const file = `${folder}/${name}.jsonl`;
  const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);
  const record = (): void => {
    collect();
    const { rss, heapUsed, external } = Deno.memoryUsage();
    const line: MemoryLine = {
      at: performance.now() / SECOND_MS,
      rssKb: rss / KILOBYTE,
      heapKb: heapUsed / KILOBYTE,
      buffersKb: external / KILOBYTE,
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  };
  Deno.unrefTimer(setInterval(record, everyMs));
  const kept: Uint8Array[] = [];
  if (leak > 0) Deno.unrefTimer(setInterval(() => kept.push(new Uint8Array(leak).fill(1)), SECOND_MS));
}

if (import.meta.main) {
  const [name = ""] = Deno.args;
  if (PROCESSES.includes(name)) observe(name, JSON.parse(Deno.env.get("SVC_SOAK") ?? ""));
  await import("../../cli.ts");
}
