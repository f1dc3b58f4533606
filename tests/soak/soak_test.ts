/** The soak itself, in a short form: what it counts, and that it detects a leak. */
import assert from "node:assert/strict";
import { randomNumbers } from "../helpers/random_numbers.ts";
import { leftovers } from "./leftovers.ts";
import { reportOf } from "./report.ts";
import { slopeOf } from "./slope.ts";
import { soak, type SoakOptions } from "./soak.ts";

const SHORT: SoakOptions = { minutes: 0.5, sessions: 3, sockets: 8, cutMs: 8_000 };
/** Per second; far more than a process grows while its code is compiled. */
const LEAK_BYTES = 1_000_000;

Deno.test("a slope is found in noise, and is less certain if neighboring values resemble each other", () => {
  const random = randomNumbers(1);
  const noisy = (noise: (n: number) => number) =>
    slopeOf(Array.from({ length: 200 }, (_, at) => ({ at, value: 3 * at + noise(at) })));
  assert.deepEqual(noisy(() => 0), { perUnit: 3, doubt: 0 });
  const independent = noisy(() => 100 * (random() - 0.5));
  assert.ok(Math.abs(independent.perUnit - 3) < 2 * independent.doubt, JSON.stringify(independent));
  const waves = noisy((at) => 50 * Math.sin(at / 5));
  assert.ok(waves.doubt > 3 * independent.doubt, JSON.stringify([waves, independent]));
});

Deno.test("a soak's leftovers are named", () => {
  const before = {
    descriptors: { relay: 30 },
    processes: { deno: 3 },
    files: { "/journal.jsonl": 1, "/part-n": 1 },
    tmuxClients: 1,
  };
  assert.deepEqual(leftovers(before, { ...before, descriptors: { relay: 40 }, files: {} }), []);
  const after = {
    descriptors: { relay: 50 },
    processes: { deno: 3, sh: 1 },
    files: { "/journal.jsonl": 1, "/part-n": 2, "/upload-n": 1 },
    tmuxClients: 2,
  };
  assert.deepEqual(leftovers(before, after), [
    "open files of relay: 50, 30 before",
    'processes "sh": 1, 0 before',
    "files /part-n: 2, 1 before",
    "files /upload-n: 1, 0 before",
    "clients of tmux: 2, 1 before",
  ]);
});

Deno.test("a short soak loses and duplicates nothing and leaves nothing behind [fault-soak]", async () => {
  const short = await soak(SHORT);
  const { faults, lines } = reportOf(short);
  assert.deepEqual(faults, [], lines.join("\n"));
  assert.ok(short.cuts > 1 && short.counts.messages.submitted > 0 && short.counts.asks.sent > 0);
});

Deno.test("a soak detects memory that each process leaks [fault-soak]", async () => {
  const { faults } = reportOf(await soak({ ...SHORT, leak: LEAK_BYTES }));
  for (const name of ["relay", "listener", "mcp"]) {
    const grown = `${name}'s memory beside the heap grows by`;
    assert.ok(faults.some((fault) => fault.startsWith(grown)), faults.join("\n"));
  }
});
