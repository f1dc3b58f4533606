/** Pushes that do not wait for a session's messages: cancelling one, ending the agent, answering its dialog. */
import assert from "node:assert/strict";
import { openJournal } from "../../../src/home/journal.ts";
import type { Command, Outcome } from "../../../src/listener/inject/context.ts";
import type { PushOptions } from "../../../src/listener/pushes.ts";
import type { AtOnceType, InTurnType, Push } from "../../../src/protocol/push.ts";
import { ID, makeBench, outcomes, push, sealed, stepsAtOnce } from "./push_bench.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

const CANCEL_ID = ID.replace(/1$/, "9");
const cancel: Push = { ...push, id: CANCEL_ID, type: "agent.cancel", body: undefined, inReplyTo: ID };

Deno.test("pushes: a waiting message is cancelled, and is not typed when it comes again [cancel-atomic]", async () => {
  const first = Promise.withResolvers<Outcome>();
  const bench = makeBench(() => first.promise);
  await bench.intake.receive({ ...push, id: ID.replace(/1$/, "2") });
  await bench.intake.receive(push);
  await bench.intake.receive(cancel);
  assert.deepEqual(outcomes(bench.acks.filter(({ id }) => id === ID)), ["delivered", "withdrawn final"]);
  assert.deepEqual(outcomes(bench.acks.filter(({ id }) => id === CANCEL_ID)), ["submitted final"]);
  first.resolve({ state: "submitted" });
  await bench.queues.idle();
  await bench.intake.receive(push);
  await bench.queues.idle();
  assert.deepEqual(bench.injected.map(({ id }) => id), [ID.replace(/1$/, "2")]);
  assert.deepEqual(outcomes(bench.acks).at(-1), "withdrawn final");
});

Deno.test("pushes: once the typing has begun, nothing is cancelled [cancel-atomic]", async () => {
  const typed = Promise.withResolvers<Outcome>();
  const bench = makeBench((command) => {
    command.turn.step = "typing";
    return typed.promise;
  });
  await bench.intake.receive(push);
  await bench.intake.receive(cancel);
  assert.deepEqual(outcomes(bench.acks.filter(({ id }) => id === CANCEL_ID)), [
    "refused already_typed final",
  ]);
  typed.resolve({ state: "submitted" });
  await bench.queues.idle();
  assert.deepEqual(outcomes(bench.acks).at(-1), "submitted final");
  for (const step of ["typing", "typed"] as const) {
    const crashed = makeBench();
    crashed.steps.set(ID, { id: ID, at: 0, step });
    await crashed.intake.receive(cancel);
    assert.deepEqual(outcomes(crashed.acks), ["refused already_typed final"]);
  }
});

Deno.test("pushes: a message whose text is held in the composer is cancelled, and withdrawn once the text is taken back; otherwise it is unknown [cancel-atomic]", async () => {
  for (const end of [{ state: "withdrawn" }, { state: "unknown", reason: "screen_stale" }] as const) {
    for (const step of ["typed", "left"] as const) {
      const ended = Promise.withResolvers<void>();
      const bench = makeBench(async (command) => {
        command.turn.step = "held";
        await ended.promise;
        return command.turn.takeBack?.state === "withdrawn" ? end : { state: "submitted" };
      });
      if (step === "left") bench.steps.set(ID, { id: ID, at: 0, step });
      await bench.intake.receive(push);
      bench.steps.set(ID, { id: ID, at: 0, step });
      await bench.intake.receive(cancel);
      const ofCancel = outcomes(bench.acks.filter(({ id }) => id === CANCEL_ID));
      assert.deepEqual(ofCancel, ["submitted final"]);
      assert.equal(bench.steps.get(ID)?.step, "typed", "no later listener presses Enter");
      await bench.intake.receive({ ...cancel, id: ID.replace(/1$/, "8") });
      assert.equal(outcomes(bench.acks).at(-1), "submitted final", "a second one, too");
      ended.resolve();
      await bench.queues.idle();
      const ofMessage = outcomes(bench.acks.filter(({ id, final }) => id === ID && final));
      assert.deepEqual(ofMessage, [
        end.state === "withdrawn" ? "withdrawn final" : "unknown screen_stale final",
      ]);
    }
  }
});

Deno.test("pushes: a message whose text an earlier listener left in the composer is cancelled before it comes again, or after, even by way of a further listener [cancel-atomic]", async () => {
  const left = { id: ID, at: 0, step: "left" } as const;
  for (const order of [[cancel, push], [push, cancel], [cancel], [cancel, cancel, push]]) {
    const mayInject = Promise.withResolvers<void>();
    const inject = async ({ left, turn }: Command): Promise<Outcome> => {
      await mayInject.promise;
      return left !== undefined && turn.takeBack || { state: "submitted" };
    };
    const bench = makeBench(inject);
    bench.steps.set(ID, left);
    for (const one of order) await bench.intake.receive(one);
    assert.deepEqual(outcomes(bench.acks.filter(({ id }) => id === CANCEL_ID))[0], "submitted final");
    const next = makeBench(inject);
    const known = bench.steps.get(ID);
    if (known !== undefined) next.steps.set(ID, known);
    await next.intake.receive(push);
    mayInject.resolve();
    for (const { queues, acks } of order.includes(push) ? [bench, next] : [next]) {
      await queues.idle();
      assert.deepEqual(outcomes(acks.filter(({ id, final }) => id === ID && final)), ["withdrawn final"]);
    }
  }
});

Deno.test("pushes: a message that comes after its cancellation is not typed [cancel-atomic]", async () => {
  const bench = makeBench();
  await Promise.all([bench.intake.receive(cancel), bench.intake.receive(push)]);
  await bench.queues.idle();
  assert.deepEqual(outcomes(bench.acks).toSorted(), ["submitted final", "withdrawn final"]);
  assert.equal(bench.injected.length, 0);
});

Deno.test("pushes: a sealed cancellation counts only for the message that it seals [cancel-atomic]", async () => {
  const bench = makeBench(undefined, {
    floor: () => Promise.resolve("psk"),
    unseal: (push) => Promise.resolve({ found: { ...push, body: CANCEL_ID }, seal: { pairing: "a" } }),
  });
  await bench.intake.receive({ ...cancel, sealed });
  assert.deepEqual(outcomes(bench.acks), ["refused invalid_body final"]);
  await bench.intake.receive({ ...cancel, id: ID.replace(/1$/, "8") });
  assert.deepEqual(outcomes(bench.acks).at(-1), "refused sealed_required final");
});

Deno.test("pushes: a paired phone's cancellation survives whatever a relay sends before the message [cancel-atomic, replay-window]", async () => {
  await using home = await makeTempHome();
  const options = { files: home.files, path: home.paths.journal, now: () => 0, pushesMax: 3 };
  const journal = await openJournal(options);
  let counter = 0;
  const bench = makeBench(undefined, {
    journal,
    floor: () => Promise.resolve("psk"),
    unseal: (push) => {
      const body = push.type === "agent.cancel" ? push.inReplyTo : push.body;
      return Promise.resolve({ found: { ...push, body }, seal: { pairing: "a", counter: ++counter } });
    },
  });
  await bench.intake.receive({ ...cancel, sealed });
  for (let n = 100; n < 110; n++) await bench.intake.receive({ ...push, id: ID.slice(0, -3) + n });
  await bench.intake.receive({ ...push, sealed });
  await bench.queues.idle();
  assert.deepEqual(bench.injected, []);
  assert.deepEqual(outcomes(bench.acks).at(-1), "withdrawn final");
  assert.ok(journal.isLasting(ID), "its receipt gets the host's proof");
  await journal.close();
  const after = await openJournal(options);
  assert.equal(after.state(ID)?.step, "done");
  await after.close();
});

const NOT_A_MESSAGE: Push = { ...push, type: "agent.end", body: "end 1" };

Deno.test("pushes: an immediate push is carried out once, even if it comes again in the meantime", async () => {
  const ending = Promise.withResolvers<Outcome>();
  let count = 0;
  const bench = makeBench(undefined, { atOnce: stepsAtOnce(() => (count++, ending.promise)) });
  const first = bench.intake.receive(NOT_A_MESSAGE);
  const again = bench.intake.receive(NOT_A_MESSAGE);
  await bench.intake.receive({ ...cancel, agentSessionName: "svc-b" });
  ending.resolve({ state: "submitted" });
  await Promise.all([first, again]);
  await bench.intake.receive(NOT_A_MESSAGE);
  assert.equal(count, 1);
  assert.deepEqual(outcomes(bench.acks.filter(({ id }) => id === ID && id !== CANCEL_ID)), [
    "delivered",
    "submitted final",
    "submitted final",
  ]);
  assert.deepEqual(outcomes(bench.acks.filter(({ id }) => id === CANCEL_ID)), [
    "refused invalid_session_name final",
  ]);
});

Deno.test("pushes: an immediate push is answered even if it fails, and is not carried out if it is late", async () => {
  const broken = makeBench(undefined, { atOnce: stepsAtOnce(() => Promise.reject(new Error("no tmux"))) });
  await broken.intake.receive(NOT_A_MESSAGE);
  assert.deepEqual(outcomes(broken.acks), ["refused end_failed final"]);
  const begun = makeBench(undefined, {
    atOnce: stepsAtOnce(({ id }) => {
      begun.steps.set(id, { id, at: 0, step: "typing" });
      return Promise.reject(new Error("no tmux"));
    }),
  });
  await begun.intake.receive(NOT_A_MESSAGE);
  assert.deepEqual(outcomes(begun.acks), ["unknown final"]);
  for (const type of ["agent.end", "dialog.answer"]) {
    const late = makeBench(undefined, {
      now: () => 200_000,
      atOnce: stepsAtOnce(() => assert.fail("carried out")),
    });
    await late.intake.receive({ ...NOT_A_MESSAGE, type });
    assert.deepEqual(outcomes(late.acks), ["expired final"]);
  }
});

/** By type: the outcome without a session, and without a text. */
const NEEDS: Record<InTurnType | AtOnceType, [session: string, text: string]> = {
  "agent.command": ["refused invalid_session_name", "refused invalid_body"],
  "agent.start": ["submitted", "submitted"],
  "agent.end": ["refused invalid_session_name", "refused invalid_body"],
  "project.mute": ["submitted", "refused invalid_body"],
  "agent.cancel": ["submitted", "submitted"],
  "dialog.answer": ["refused invalid_session_name", "refused invalid_body"],
  "ask.answer": ["refused dialog_gone", "refused invalid_body"],
};

Deno.test("pushes: each type is acted on only with the session and the text that it needs [push-type]", async () => {
  for (const [type, [withoutSession, withoutText]] of Object.entries(NEEDS)) {
    const whole = { ...push, type, inReplyTo: CANCEL_ID };
    for (
      const [change, outcome] of [
        [{}, "submitted"],
        [{ agentSessionName: undefined }, withoutSession],
        [{ body: undefined }, withoutText],
      ] as const
    ) {
      const bench = makeBench(undefined, { unseal: (one) => Promise.resolve({ found: one }) });
      await bench.intake.receive({ ...whole, ...change });
      await bench.queues.idle();
      assert.equal(outcomes(bench.acks).at(-1), `${outcome} final`, `${type} ${JSON.stringify(change)}`);
    }
  }
});

Deno.test("pushes: a cancellation that comes late still counts, and an answer to a card is reported as delivered", async () => {
  const unseal: PushOptions["unseal"] = (one) => Promise.resolve({ found: one });
  const late = makeBench(undefined, { now: () => 200_000, unseal });
  await late.intake.receive(cancel);
  assert.deepEqual(outcomes(late.acks), ["submitted final"]);
  const answering = makeBench(undefined, { unseal });
  await answering.intake.receive({ ...push, type: "ask.answer" });
  assert.deepEqual(outcomes(answering.acks), ["delivered", "submitted final"]);
});

Deno.test("pushes: a start that has begun is not cancelled, one that waits is [cancel-atomic]", async () => {
  const started = Promise.withResolvers<Outcome>();
  const starts: string[] = [];
  const bench = makeBench(undefined, {
    inTurn: {
      "agent.start": ({ id }) => {
        starts.push(id);
        return started.promise;
      },
    },
  });
  const start: Push = { ...push, type: "agent.start", agentSessionName: undefined };
  const waiting = { ...start, id: ID.replace(/1$/, "2") };
  const stop: Push = { ...cancel, agentSessionName: undefined };
  await bench.intake.receive(start);
  await bench.intake.receive(waiting);
  await bench.intake.receive(stop);
  await bench.intake.receive({ ...stop, id: ID.replace(/1$/, "8"), inReplyTo: waiting.id });
  started.resolve({ state: "submitted" });
  await bench.queues.idle();
  assert.deepEqual(starts, [ID]);
  const byId = (id: string): string[] => outcomes(bench.acks.filter((ack) => ack.id === id));
  assert.deepEqual(byId(ID), ["delivered", "submitted final"]);
  assert.deepEqual(byId(waiting.id), ["delivered", "withdrawn final"]);
  assert.deepEqual(byId(CANCEL_ID), ["refused already_typed final"]);
});

Deno.test("pushes: a message that tmux refused to type waits again, and can be cancelled [cancel-atomic]", async () => {
  const held = Promise.withResolvers<Outcome>();
  const bench = makeBench(({ id, turn }) => {
    bench.steps.set(id, { id, at: 0, step: "typing" });
    turn.step = "waiting";
    return held.promise;
  });
  await bench.intake.receive(push);
  await bench.intake.receive(cancel);
  assert.deepEqual(outcomes(bench.acks).slice(1), ["withdrawn final", "submitted final"]);
  held.resolve({ state: "withdrawn" });
  await bench.queues.idle();
  assert.equal(bench.acks.length, 3);
});

Deno.test("pushes: an answer that waits for the agent is not cancelled, because it cannot be taken back [cancel-atomic]", async () => {
  const answered = Promise.withResolvers<Outcome>();
  const bench = makeBench(undefined, { atOnce: stepsAtOnce(() => answered.promise) });
  const answering = bench.intake.receive({ ...push, type: "ask.answer" });
  await bench.intake.receive(cancel);
  answered.resolve({ state: "submitted" });
  await answering;
  const ends = bench.acks.filter(({ final }) => final).map((
    { id, outcome, reason },
  ) => [id, outcome, reason]);
  assert.deepEqual(ends, [[CANCEL_ID, "refused", "already_typed"], [ID, "submitted", undefined]]);
});
