/** The terminal is raw while a loop reads keys, and only then. */

import assert from "node:assert/strict";
import { type KeySource, rawInput } from "../../../src/runtime/terminal.ts";

function source(keys: string[]): KeySource & { log: string[] } {
  const log: string[] = [];
  return {
    log,
    setRaw: (on) => void log.push(on ? "raw" : "cooked"),
    read: () => Promise.resolve(keys.length > 0 ? new TextEncoder().encode(keys.shift()) : undefined),
    stop: () => void log.push("stopped"),
  };
}

Deno.test("a loop that is left gives the terminal back and stops the source", async () => {
  const keys = source(["a", "b"]);
  for await (const _ of rawInput(() => keys)) break;
  assert.deepEqual(keys.log, ["raw", "cooked", "stopped"]);
});

Deno.test("the end of input gives the terminal back, and nothing is read after it", async () => {
  const keys = source(["a"]);
  const iterator = rawInput(() => keys)[Symbol.asyncIterator]();
  assert.equal((await iterator.next()).done, false);
  assert.equal((await iterator.next()).done, true);
  assert.equal((await iterator.next()).done, true);
  assert.deepEqual(keys.log, ["raw", "raw", "cooked", "cooked"]);
});
