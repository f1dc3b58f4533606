/** Messages while the journal cannot be written. */
import assert from "node:assert/strict";
import type { JournalEntry } from "../../../src/home/journal.ts";
import { FILES_RETRY_MS, type PushOptions } from "../../../src/listener/pushes.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { ID, makeBench, outcomes, push } from "./push_bench.ts";

/** Returns a bench whose journal fails for as long as `isFull`. */
function fullDisk(change: Partial<PushOptions> = {}) {
  const clock = new FakeClock(0);
  const disk = { isFull: true };
  const steps = new Map<string, JournalEntry>();
  const write = <T>(result: T): Promise<T> =>
    disk.isFull ? Promise.reject(new Error("disk full")) : Promise.resolve(result);
  const bench = makeBench(undefined, {
    journal: {
      state: (id) => steps.get(id),
      record: (id, step) => write(undefined).then(() => void steps.set(id, { id, at: 0, ...step })),
      take: () => write("taken" as const),
      promise: () => false,
    },
    clock,
    now: () => clock.now(),
    ...change,
  });
  const passed = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += FILES_RETRY_MS) {
      clock.advance(FILES_RETRY_MS);
      await turns();
    }
  };
  return { ...bench, disk, passed };
}

/** Lets everything finish that runs without a timer. */
async function turns(): Promise<void> {
  for (let n = 0; n < 100; n++) await Promise.resolve();
}

Deno.test("pushes: while the host's files cannot be written messages wait, and those of a session are typed in order afterwards [inj-order, inj-full-disk, fault-disk]", async () => {
  const { intake, acks, injected, queues, disk, passed } = fullDisk();
  const others = [1, 2, 3].map((n) => ({ ...push, id: `${ID.slice(0, -1)}${n + 1}`, body: `message ${n}` }));
  void intake.receive(push);
  await passed(2_000);
  assert.deepEqual(outcomes(acks), ["held host_files"], "reported once");
  for (const other of others.slice(0, 2)) void intake.receive(other);
  // The relay resends what was not acknowledged.
  void intake.receive(others[1] ?? push);
  void intake.receive(push);
  await passed(2_000);
  assert.deepEqual(injected, []);
  disk.isFull = false;
  // Without the order this one would be first, because nothing waits for the disk any longer.
  void intake.receive(others[2] ?? push);
  await passed(1_000);
  await queues.idle();
  assert.deepEqual(injected.map(({ body }) => body), ["hello", "message 1", "message 2", "message 3"]);
  assert.equal(outcomes(acks).filter((outcome) => outcome === "submitted final").length, 4);
});

Deno.test("pushes: a message that expires while the host's files cannot be written ends as expired, and one that waits when the listener stops stays with the relay [rcpt-ends, fault-disk]", async () => {
  const expiring = fullDisk();
  void expiring.intake.receive({ ...push, expiresAt: 2_500 });
  await expiring.passed(3_000);
  assert.deepEqual(outcomes(expiring.acks), ["held host_files", "expired final"]);
  const stopping = fullDisk();
  const received = stopping.intake.receive(push);
  await stopping.passed(1_000);
  stopping.intake.stop();
  await received;
  stopping.disk.isFull = false;
  await stopping.passed(1_000);
  assert.deepEqual(outcomes(stopping.acks), ["held host_files"]);
  assert.deepEqual([...expiring.injected, ...stopping.injected], []);
});

Deno.test("pushes: a message that is cancelled while the host's files cannot be written is not typed afterwards [cancel-atomic, fault-disk]", async () => {
  const { intake, acks, injected, queues, disk, passed } = fullDisk();
  const [next, cancelId] = [ID.replace(/1$/, "2"), ID.replace(/1$/, "9")];
  void intake.receive(push);
  void intake.receive({ ...push, id: cancelId, type: "agent.cancel", body: undefined, inReplyTo: ID });
  void intake.receive({ ...push, id: next, body: "next" });
  await passed(2_000);
  assert.deepEqual(injected, []);
  disk.isFull = false;
  await passed(1_000);
  await queues.idle();
  assert.deepEqual(injected.map(({ id }) => id), [next]);
  const ends = acks.filter(({ final }) => final).map(({ id, outcome }) => [id, outcome]);
  assert.deepEqual(ends, [[ID, "withdrawn"], [cancelId, "submitted"], [next, "submitted"]]);
});

Deno.test("pushes: a message that waits for the host's files is logged once, not at each try [fault-disk]", async () => {
  const { intake, log, passed } = fullDisk();
  void intake.receive(push);
  await passed(60_000);
  assert.equal(log.length, 1);
});
