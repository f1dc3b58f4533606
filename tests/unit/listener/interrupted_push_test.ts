/** The order in which messages that a killed listener was typing are ended. */
import assert from "node:assert/strict";
import { ID, makeBench, outcomes, push, sealed } from "./push_bench.ts";

Deno.test("pushes: a killed listener's text is removed once, before the next message of its session is typed; other sessions continue [inj-take-back, inj-turns]", async () => {
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

Deno.test("pushes: only the very push that a killed listener typed causes a removal: the relay may send any text for any session under its id [inj-take-back, hostile-relay]", async () => {
  const seal = { pairing: "p", counter: 7 };
  const body = "what was typed";
  /** Returns what is removed when the relay sends `sent` for a push that was recorded with `recorded`. */
  const removed = async (
    { sent = push, recorded, opened, floor = "off" }: {
      sent?: typeof push;
      recorded?: typeof seal;
      opened?: typeof seal;
      floor?: "off" | "psk";
    },
  ): Promise<string[]> => {
    const bench = makeBench(undefined, {
      unseal: (one) => Promise.resolve({ found: { ...one, body }, seal: opened }),
      floor: () => Promise.resolve(floor),
    });
    bench.steps.set(ID, { id: ID, at: 0, step: "typing", ...(recorded ? { sealed: recorded } : {}) });
    await bench.intake.receive(sent);
    assert.deepEqual(outcomes(bench.acks), ["unknown interrupted final"]);
    return bench.left;
  };
  const sent = { ...push, sealed };
  assert.deepEqual(await removed({}), [push.body]);
  assert.deepEqual(await removed({ sent, recorded: seal, opened: seal, floor: "psk" }), [body]);
  assert.deepEqual(await removed({ recorded: seal }), [], "a plain text in place of the sealed one");
  assert.deepEqual(await removed({ floor: "psk" }), [], "below the floor");
  assert.deepEqual(
    await removed({ sent, recorded: seal, opened: { ...seal, counter: 6 } }),
    [],
    "another one",
  );
  assert.deepEqual(await removed({ sent, recorded: seal }), [], "sealed by nobody who is paired");
});
