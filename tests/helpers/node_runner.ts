/** The program that `on_node.ts` bundles: runs cases on Node and prints one JSON line for each. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { runtime } from "../../src/runtime/node.ts";
import type { Case } from "./on_node.ts";

/** Limit for a case that hangs, in milliseconds; a safety net, not a measure of speed. */
const LIMIT_MS = 180_000;

/** How long Node may take to exit by itself after the last case, in milliseconds. */
const LEAK_MS = 60_000;

async function failureOf(one: Case): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), "svc-case-"));
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no end after ${LIMIT_MS} ms`)), LIMIT_MS);
  try {
    await Promise.race([one.run(runtime, directory), late.promise]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `${error.stack}` : String(error);
  } finally {
    clearTimeout(timer);
    await rm(directory, { recursive: true });
  }
}

/** Fails if something left open keeps the program alive, as Deno's leak sanitizers would. */
function watchForLeaks(): void {
  const report = (): void => {
    process.stderr.write(`still open after the last case: ${process.getActiveResourcesInfo().join(", ")}\n`);
    process.exit(1);
  };
  setTimeout(report, LEAK_MS).unref();
}

export async function runAll(cases: readonly Case[]): Promise<void> {
  for (const one of cases) {
    const result = { name: one.name, failure: await failureOf(one) };
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }
  watchForLeaks();
}
