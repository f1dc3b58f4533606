/** Tasks one at a time, in the order of the calls. */
import assert from "node:assert/strict";
import { Mutex } from "../../../src/async/mutex.ts";

Deno.test("tasks run one at a time in the order of the calls", async () => {
  const mutex = new Mutex();
  const log: string[] = [];
  const task = (name: string) => async (): Promise<string> => {
    log.push(`${name} begins`);
    await Promise.resolve();
    await Promise.resolve();
    log.push(`${name} ends`);
    return name;
  };
  const running = ["a", "b", "c"].map((name) => mutex.run(task(name)));
  assert.equal(mutex.size, 3);
  await mutex.idle();
  assert.deepEqual(log, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  assert.deepEqual(await Promise.all(running), ["a", "b", "c"]);
  assert.equal(mutex.size, 0);
});

Deno.test("a free mutex starts a task at once", async () => {
  const mutex = new Mutex();
  let isStarted = false;
  const running = mutex.run(() => {
    isStarted = true;
  });
  assert.equal(isStarted, true);
  await running;
});

Deno.test("a task added as the last one ends waits for those before it", async () => {
  const mutex = new Mutex();
  const log: string[] = [];
  let late: Promise<void> | undefined;
  const first = mutex.run(() => Promise.resolve()).then(() => {
    late = mutex.run(() => void log.push("third"));
  });
  const second = mutex.run(async () => {
    await Promise.resolve();
    log.push("second");
  });
  await Promise.all([first, second]);
  await late;
  assert.deepEqual(log, ["second", "third"]);
});

Deno.test("a task that throws passes its error to its caller and lets the next one run", async () => {
  const mutex = new Mutex();
  const failing = mutex.run(() => {
    throw new Error("broken");
  });
  const next = mutex.run(() => 1);
  await assert.rejects(failing, /broken/);
  assert.equal(await next, 1);
});
