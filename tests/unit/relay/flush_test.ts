/** The end of a stop: in order, and bounded when the store does not answer. */
import assert from "node:assert/strict";
import { flush } from "../../../src/relay/server.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";

const LIMIT_MS = 1_000;
/** The additional time that closing may take. */
const CLOSE_MS = 700;

/** Makes services whose work is done by `work`. */
function parts(clock: FakeClock, work: (what: string) => Promise<void>) {
  const logged: string[] = [];
  const services = {
    clock,
    log: (line: string) => void logged.push(line),
    tasks: { settled: () => work("settled") },
    store: { setAllOffline: () => work("offline"), close: () => work("store") },
    bus: { close: () => work("bus") },
  };
  return { services, logged };
}

Deno.test("a stop waits for tasks, marks devices offline and closes the bus and the store, in this order [rl-stop]", async () => {
  const clock = new FakeClock();
  const done: string[] = [];
  const { services, logged } = parts(clock, async (what) => {
    await Promise.resolve();
    done.push(what);
  });
  await flush(services, LIMIT_MS);
  assert.deepEqual([done, logged, clock.pending], [["settled", "offline", "bus", "store"], [], 0]);
});

Deno.test("a store that never answers does not block a stop [rl-stop]", async () => {
  const clock = new FakeClock();
  const { services, logged } = parts(clock, () => new Promise(() => {}));
  let isOver = false;
  const flushed = flush(services, LIMIT_MS).then(() => isOver = true);
  await until("the end", () => {
    if (!isOver && clock.elapsed() <= LIMIT_MS + CLOSE_MS) clock.advance(50);
    return isOver || clock.elapsed() > LIMIT_MS + CLOSE_MS;
  });
  assert.ok(isOver, "it has taken longer than it may");
  await flushed;
  assert.deepEqual([logged, clock.pending], [["! stopping although the store has not stored everything"], 0]);
});

Deno.test("devices are marked offline even if a task never ends [rl-stop]", async () => {
  const clock = new FakeClock();
  const done: string[] = [];
  const { services } = parts(clock, (what) => {
    done.push(what);
    return what === "settled" ? new Promise(() => {}) : Promise.resolve();
  });
  const flushed = flush(services, LIMIT_MS);
  clock.advance(LIMIT_MS);
  await flushed;
  assert.deepEqual(done, ["settled", "offline", "bus", "store"]);
});
