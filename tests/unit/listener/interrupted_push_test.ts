/** In which order a message that a killed listener was typing is ended. */
import assert from "node:assert/strict";
import { ID, makeBench, outcomes, push } from "./push_bench.ts";

Deno.test("pushes: what a killed listener typed is removed once, before the next message of its session is typed; other sessions go on [inj-take-back, inj-turns]", async () => {
  const removed = Promise.withResolvers<void>();
  const left: string[] = [];
  const bench = makeBench(undefined, {
    leftBehind: ({ id }) => {
      left.push(id);
      return removed.promise;
    },
  });
  bench.steps.set(ID, { id: ID, at: 0, step: "typing" });
  const next = { ...push, id: ID.replace(/1$/, "2") };
  const other = { ...push, id: ID.replace(/1$/, "3"), agentSessionName: "svc-b" };
  const all = [push, next, push].map((one) => bench.intake.receive(one));
  await bench.intake.receive(other);
  assert.deepEqual(bench.injected.map(({ id }) => id), [other.id]);
  const cancel = { ...push, id: ID.replace(/1$/, "9"), type: "agent.cancel", inReplyTo: ID };
  all.push(bench.intake.receive(cancel));
  removed.resolve();
  await Promise.all(all);
  await bench.queues.idle();
  assert.deepEqual(bench.injected.map(({ id }) => id), [other.id, next.id]);
  assert.deepEqual(left, [ID]);
  const ends = bench.acks.filter(({ id, final }) => final && [ID, cancel.id].includes(id));
  assert.deepEqual(outcomes(ends), ["unknown interrupted final", "refused already_typed final"]);
});
