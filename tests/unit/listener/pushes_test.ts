/** A push is injected at most once, through repeats and crashes. */
import assert from "node:assert/strict";
import { type Outcome, Stopping } from "../../../src/listener/inject/context.ts";
import { DELIVERED_WITHIN_MS, QUEUE_FULL_WAIT_SECONDS } from "../../../src/listener/waiting_pushes.ts";
import { QUEUE_MAX, SessionQueues } from "../../../src/listener/waiting_pushes.ts";
import { FILES_RETRY_MS } from "../../../src/listener/pushes.ts";
import { PUSH_TYPES } from "../../../src/protocol/push.ts";
import { until } from "../../helpers/until.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { ID, makeBench, outcomes, push, sealed } from "./push_bench.ts";

Deno.test("pushes: a command is delivered, injected and acknowledged [ev-inject, rcpt-path]", async () => {
  const bench = makeBench();
  await bench.intake.receive(push);
  await bench.queues.idle();
  assert.deepEqual(outcomes(bench.acks), ["delivered", "submitted final"]);
  assert.deepEqual(bench.injected, [
    {
      id: ID,
      session: "svc-a",
      body: "hello",
      expiresAt: 99_500,
      sendAnyway: false,
      run: undefined,
      asker: undefined,
      turn: { step: "waiting" },
      left: undefined,
    },
  ]);
});

Deno.test("pushes: only an answer to a question identifies the run that it is for [mcp-late]", async () => {
  const bench = makeBench();
  const data = { run: "1790000000 %3 4242" };
  await bench.intake.receive({ ...push, data, inReplyTo: crypto.randomUUID() });
  await bench.intake.receive({ ...push, id: crypto.randomUUID(), data });
  await bench.queues.idle();
  assert.deepEqual(bench.injected.map(({ run }) => run), [data.run, undefined]);
});

Deno.test("pushes: delivered is reported before what follows it, and after 5 ms at the latest [rcpt-path]", async () => {
  const clock = new FakeClock();
  let finish: (outcome: Outcome) => void = () => {};
  const bench = makeBench(() => new Promise((resolve) => finish = resolve), { clock });
  await bench.intake.receive(push);
  assert.deepEqual(outcomes(bench.acks), [], "the typing comes first");
  bench.intake.report(ID, { state: "typed" });
  assert.deepEqual(outcomes(bench.acks), ["delivered", "typed"]);
  assert.equal(clock.pending, 0);
  finish({ state: "submitted" });
  await bench.queues.idle();
  const held = { ...push, id: ID.replace(/1$/, "2") };
  await bench.intake.receive(held);
  clock.advance(DELIVERED_WITHIN_MS);
  bench.intake.report(held.id, { state: "held", reason: "desk_busy" });
  assert.deepEqual(outcomes(bench.acks.filter(({ id }) => id === held.id)), ["delivered", "held desk_busy"]);
  finish({ state: "submitted" });
  await bench.queues.idle();
});

Deno.test("pushes: delivered comes before the end of a message that is cancelled, and never after another listener took over [rcpt-path, cancel-atomic, ls-handover]", async () => {
  const clock = new FakeClock();
  const bench = makeBench(() => new Promise(() => {}), { clock });
  const [waiting, cancel] = [2, 3].map((n) => ({ ...push, id: ID.replace(/1$/, String(n)) }));
  assert.ok(waiting && cancel);
  await bench.intake.receive(push);
  await bench.intake.receive(waiting);
  await bench.intake.receive({ ...cancel, type: "agent.cancel", inReplyTo: waiting.id, body: waiting.id });
  const ofWaiting = bench.acks.filter(({ id }) => id === waiting.id);
  assert.deepEqual(outcomes(ofWaiting), ["delivered", "withdrawn final"]);
  bench.intake.drop();
  clock.advance(DELIVERED_WITHIN_MS);
  assert.deepEqual(bench.acks.filter(({ id }) => id === ID), []);
});

Deno.test("pushes: the reason for a message's wait before it was accepted is not reported again [rcpt-path, inj-full-disk]", async () => {
  let isFull = true;
  const clock = new FakeClock();
  const floor = (): Promise<"off"> =>
    isFull ? Promise.reject(new Error("No space left")) : Promise.resolve("off");
  const bench = makeBench(() => new Promise(() => {}), { clock, floor });
  const received = bench.intake.receive(push);
  await until("the hold", () => clock.pending === 1);
  isFull = false;
  clock.advance(FILES_RETRY_MS);
  await received;
  clock.advance(DELIVERED_WITHIN_MS);
  await bench.intake.receive(push);
  assert.deepEqual(outcomes(bench.acks), ["held host_files", "delivered", "delivered"]);
});

Deno.test("pushes: a push sent again, in progress or done, is not typed twice [ev-push-ack, inj-never-retype]", async () => {
  let finish: (outcome: Outcome) => void = () => {};
  const bench = makeBench(() => new Promise((resolve) => finish = resolve));
  await bench.intake.receive(push);
  await bench.intake.receive(push);
  finish({ state: "typed" });
  await bench.queues.idle();
  await bench.intake.receive(push);
  assert.equal(bench.injected.length, 1);
  assert.deepEqual(outcomes(bench.acks), ["delivered", "delivered", "typed final", "typed final"]);
});

Deno.test("pushes: a push interrupted by a crash while typing is unknown, and not typed again [inj-unknown, inj-journal, inj-take-back]", async () => {
  for (const step of ["typing", "typed"] as const) {
    const bench = makeBench();
    bench.steps.set(ID, { id: ID, at: 0, step });
    await bench.intake.receive(push);
    assert.deepEqual(outcomes(bench.acks), ["unknown interrupted final"]);
    assert.equal(bench.injected.length, 0);
    assert.deepEqual(bench.left, [push.body], "the next message may find it in the composer");
  }
});

Deno.test("pushes: a text that a listener left in the composer when it stopped is the next one's to submit [inj-stop, ls-handover]", async () => {
  for (const more of [{}, { sealed }]) {
    const bench = makeBench(undefined, {
      unseal: (found) => Promise.resolve({ found: { ...found, body: "hello" } }),
    });
    bench.steps.set(ID, { id: ID, at: 0, step: "left", emptyAt: 7, shown: "[Pasted text #1]" });
    await bench.intake.receive({ ...push, ...more });
    await bench.queues.idle();
    assert.deepEqual(bench.injected.map(({ left }) => left), [{ emptyAt: 7, shown: "[Pasted text #1]" }]);
    assert.deepEqual(outcomes(bench.acks), ["delivered", "submitted final"]);
  }
  const broken = makeBench(() => Promise.reject(new Error("broken")));
  broken.steps.set(ID, { id: ID, at: 0, step: "left" });
  await broken.intake.receive(push);
  await broken.queues.idle();
  assert.deepEqual(
    outcomes(broken.acks),
    ["delivered", "refused tmux_failed final"],
    "Enter was not pressed",
  );
});

Deno.test("pushes: a push interrupted by a crash before typing is injected when it comes again [inj-journal]", async () => {
  const bench = makeBench();
  bench.steps.set(ID, { id: ID, at: 0, step: "accepted" });
  await bench.intake.receive(push);
  await bench.queues.idle();
  assert.equal(bench.injected.length, 1);
});

Deno.test("pushes: only agent.command is typed [push-types-ignored]", async () => {
  for (const type of Object.keys(PUSH_TYPES)) {
    const bench = makeBench();
    await bench.intake.receive({ ...push, type, inReplyTo: ID.replace(/1$/, "2") });
    await bench.queues.idle();
    assert.equal(bench.injected.length, type === "agent.command" ? 1 : 0, type);
    assert.ok(bench.acks.at(-1)?.final, type);
  }
});

Deno.test("pushes: other types are ignored, acknowledged and logged [push-types-ignored, type-ignored, ver-unknown-type, ws-acts-on]", async () => {
  for (const type of ["note", "agent.stop", "broadcast", "agent.dance"]) {
    const bench = makeBench();
    await bench.intake.receive({ ...push, type });
    assert.deepEqual(outcomes(bench.acks), ["ignored unknown_type final"]);
    assert.ok(bench.log.some((line) => line.includes(`"${type}"`)));
    assert.equal(bench.injected.length, 0);
  }
});

Deno.test("pushes: without a name or a valid body nothing is typed [err-ignored, push-session, push-body, show-controls]", async () => {
  const bodies = [undefined, "", "a\u001bb", "a\u0000b", "a\u0007", "a\u007f", "x".repeat(16_385)];
  for (const body of bodies) {
    const bench = makeBench();
    await bench.intake.receive({ ...push, body });
    assert.deepEqual(
      outcomes(bench.acks),
      ["refused invalid_body final"],
      JSON.stringify(body)?.slice(0, 20),
    );
    assert.equal(bench.injected.length, 0);
  }
  const nameless = makeBench();
  await nameless.intake.receive({ ...push, agentSessionName: undefined });
  assert.deepEqual(outcomes(nameless.acks), ["refused invalid_session_name final"]);
});

Deno.test("pushes: a host that requires sealing refuses plain messages, and those it cannot open [seal-floor-message, seal-unsealable]", async () => {
  const strict = makeBench(undefined, { floor: () => Promise.resolve("psk") });
  await strict.intake.receive(push);
  assert.deepEqual(outcomes(strict.acks), ["refused sealed_required final"]);
  const weak = makeBench(undefined, { floor: () => Promise.resolve("psk") });
  await weak.intake.receive({ ...push, sealed: { ...sealed, mode: "base" } });
  assert.deepEqual(outcomes(weak.acks), ["refused sealed_required final"]);
  const bench = makeBench();
  await bench.intake.receive({ ...push, sealed });
  await bench.queues.idle();
  assert.deepEqual(outcomes(bench.acks), ["refused unsealable final"]);
  assert.deepEqual([bench.kept, bench.promised], [[], [ID]]);
  assert.equal(bench.injected.length, 0);
});

Deno.test("pushes: only the opened text of a sealed message is typed, in its turn [seal-stored, inj-order]", async () => {
  const held = Promise.withResolvers<void>();
  const ended: (string | undefined)[] = [];
  const bench = makeBench(undefined, {
    floor: () => Promise.resolve("psk"),
    unseal: async (push) => {
      if (push.id === ID) await held.promise;
      const found = { ...push, body: `opened ${push.id.at(-1)}` };
      return { found, seal: { pairing: "a", counter: Number(push.id.at(-1)) } };
    },
    ended: (push) => Promise.resolve(void ended.push(push.body)),
  });
  const first = bench.intake.receive({ ...push, body: "the relay's own words", sealed });
  const second = bench.intake.receive({ ...push, id: ID.replace(/1$/, "2"), body: undefined, sealed });
  held.resolve();
  await Promise.all([first, second]);
  await bench.queues.idle();
  assert.deepEqual(bench.injected.map(({ body }) => body), ["opened 1", "opened 2"]);
  assert.deepEqual(ended, ["opened 1", "opened 2"], "the audit has the digest of what was typed");
  assert.deepEqual(bench.kept, [ID, ID.replace(/1$/, "2")]);
});

Deno.test("pushes: a message that waits when the daemon stops stays open [ls-handover]", async () => {
  const bench = makeBench(() => Promise.reject(new Stopping()));
  await bench.intake.receive(push);
  await bench.queues.idle();
  assert.deepEqual(outcomes(bench.acks), ["delivered"]);
  assert.equal(bench.steps.get(ID)?.step, "accepted");
  bench.intake.stop();
  await bench.intake.receive({ ...push, id: ID.replace(/1$/, "2") });
  assert.equal(bench.injected.length, 1);
});

Deno.test("pushes: messages that another listener took over are dropped, and accepted again when they come back", async () => {
  let release = (): void => {};
  const bench = makeBench(() => new Promise((_resolve, reject) => release = () => reject(new Stopping())));
  const second = { ...push, id: ID.replace(/1$/, "2") };
  await bench.intake.receive(push);
  await bench.intake.receive(second);
  bench.intake.drop();
  release();
  await bench.queues.idle();
  assert.equal(bench.injected.length, 1, "the queued one was not injected");
  await bench.intake.receive(second);
  release();
  await bench.queues.idle();
  assert.equal(bench.injected.length, 2);
});

Deno.test("pushes: a hand-over or the stop ends the waits of the injections begun before it, and of no later one [ls-handover]", async () => {
  const signals: AbortSignal[] = [];
  const bench = makeBench((_command, signal) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  await bench.intake.receive(push);
  bench.intake.drop();
  await bench.intake.receive(push);
  assert.deepEqual(signals.map(({ aborted }) => aborted), [true, false]);
  bench.intake.stop();
  await bench.queues.idle();
  assert.ok(signals[1]?.aborted);
  assert.deepEqual(outcomes(bench.acks), ["delivered", "delivered"], "both stay open");
});

Deno.test("pushes: what arrives while the daemon stops stays with the relay, unacknowledged [ls-handover]", async () => {
  const opening = Promise.withResolvers<void>();
  const bench = makeBench(undefined, {
    unseal: async (push) => {
      await opening.promise;
      return { found: push, seal: { pairing: "a", counter: 1 } };
    },
  });
  const arriving = bench.intake.receive({ ...push, sealed });
  bench.intake.stop();
  opening.resolve();
  await arriving;
  await bench.intake.receive({ ...push, sealed });
  await bench.queues.idle();
  assert.deepEqual([bench.acks, bench.injected], [[], []]);
});

Deno.test("pushes: an injection that continues after a hand-over leaves nothing unfinished", async () => {
  const entered = Promise.withResolvers<Outcome>();
  const bench = makeBench(() => entered.promise);
  await bench.intake.receive(push);
  bench.intake.drop();
  bench.intake.report(ID, { state: "typed" });
  entered.resolve({ state: "submitted" });
  await bench.queues.idle();
  await bench.intake.receive(push);
  assert.deepEqual(outcomes(bench.acks), ["delivered", "typed", "submitted final", "submitted final"]);
});

Deno.test("pushes: an interrupted push is acknowledged even if its session cannot be found [inj-unknown]", async () => {
  const bench = makeBench(undefined, { leftBehind: () => Promise.reject(new Error("no tmux")) });
  bench.steps.set(ID, { id: ID, at: 0, step: "typing" });
  await bench.intake.receive(push);
  assert.deepEqual(outcomes(bench.acks), ["unknown interrupted final"]);
  assert.match(bench.log.join(), /no tmux/);
});

Deno.test("pushes: a failure before typing is a refusal, one after it is unknown [inj-unknown]", async () => {
  const before = makeBench(() => Promise.reject(new Error("broken")));
  await before.intake.receive(push);
  await before.queues.idle();
  assert.deepEqual(outcomes(before.acks), ["delivered", "refused tmux_failed final"]);
  const after = makeBench((command) => {
    after.steps.set(command.id, { id: command.id, at: 0, step: "typing" });
    return Promise.reject(new Error("broken"));
  });
  await after.intake.receive(push);
  await after.queues.idle();
  assert.deepEqual(outcomes(after.acks), ["delivered", "unknown final"]);
});

Deno.test("pushes: only a message, whose typing waits for the disk, is accepted before its entry is synced [inj-journal]", async () => {
  const synced: [string, boolean | undefined][] = [];
  const bench = makeBench(undefined, {
    journal: {
      state: () => undefined,
      record: (_id, { step }, { sync = true } = {}) => Promise.resolve(void synced.push([step, sync])),
      take: () => Promise.resolve("taken"),
      promise: () => false,
    },
  });
  await bench.intake.receive(push);
  await bench.queues.idle();
  assert.deepEqual(synced.splice(0), [["accepted", false], ["done", true]]);
  for (const type of ["agent.start", "agent.end"]) {
    await bench.intake.receive({ ...push, id: crypto.randomUUID(), type });
    await bench.queues.idle();
    assert.deepEqual(synced.splice(0), [["accepted", true], ["done", true]], type);
  }
});

Deno.test("pushes: a pane is checked while the host's floor is read, unless the last one demanded a seal [inj-early]", async () => {
  for (const last of ["off", "psk"] as const) {
    const events: string[] = [];
    const bench = makeBench(undefined, {
      prepare: () => void events.push("prepared"),
      floor: () => {
        events.push("floor");
        return Promise.resolve(last);
      },
    });
    for (let n = 0; n < 2; n++) await bench.intake.receive({ ...push, id: crypto.randomUUID() });
    await bench.queues.idle();
    const expected = last === "off"
      ? ["floor", "prepared", "prepared", "floor", "prepared"]
      : ["floor", "floor"];
    assert.deepEqual(events, expected, last);
  }
});

Deno.test("pushes: when a session's queue is full, messages are refused with Retry-After and do not fill the relay's window [inj-turns]", async () => {
  let release = (): void => {};
  const held = new Promise<Outcome>((resolve) => release = () => resolve({ state: "submitted" }));
  const bench = makeBench(() => held);
  const idOf = (n: number): string => ID.slice(0, -3) + String(n).padStart(3, "0");
  for (let n = 1; n <= QUEUE_MAX + 1; n++) await bench.intake.receive({ ...push, id: idOf(n) });
  const last = bench.acks.at(-1);
  assert.deepEqual(last, {
    id: idOf(QUEUE_MAX + 1),
    outcome: "refused",
    reason: "rate_limited",
    retryAfterSeconds: QUEUE_FULL_WAIT_SECONDS,
    agentSessionName: undefined,
    final: true,
  });
  release();
  await bench.queues.idle();
  assert.ok(!bench.injected.some(({ id }) => id === last?.id));
});

Deno.test("queues: one slow session delays no other, and each keeps its order [inj-turns, inj-order]", async () => {
  const queues = new SessionQueues();
  const done: string[] = [];
  let release = (): void => {};
  const blocked = new Promise<void>((resolve) => release = resolve);
  queues.add("slow", () => blocked.then(() => void done.push("slow 1")));
  queues.add("slow", () => Promise.resolve(void done.push("slow 2")));
  await new Promise<void>((resolve) => {
    queues.add("quick", () => {
      done.push("quick");
      resolve();
      return Promise.resolve();
    });
  });
  assert.deepEqual(done, ["quick"]);
  release();
  await queues.idle();
  assert.deepEqual(done, ["quick", "slow 1", "slow 2"]);
});

const { agentSessionName: _none, body: _text, ...start } = { ...push, type: "agent.start" };

Deno.test("pushes: a start runs once, and its receipt names the session even when it is sent again [type-start]", async () => {
  let starts = 0;
  const bench = makeBench(undefined, {
    inTurn: {
      "agent.start": () => {
        starts += 1;
        return Promise.resolve({ state: "submitted", agentSessionName: "svc-b" });
      },
    },
  });
  await bench.intake.receive(start);
  await bench.queues.idle();
  await bench.intake.receive(start);
  assert.deepEqual(outcomes(bench.acks), ["delivered", "submitted final", "submitted final"]);
  assert.deepEqual(bench.acks.map((ack) => ack.agentSessionName), [undefined, "svc-b", "svc-b"]);
  assert.deepEqual([starts, bench.injected.length], [1, 0]);
});

Deno.test("pushes: a start that expired, is not sealed enough, or was interrupted starts nothing [type-start]", async () => {
  const late = makeBench(undefined, { now: () => 100_000 });
  await late.intake.receive(start);
  await late.queues.idle();
  assert.deepEqual(outcomes(late.acks), ["delivered", "expired final"]);
  const strict = makeBench(undefined, { floor: () => Promise.resolve("psk") });
  await strict.intake.receive(start);
  assert.deepEqual(outcomes(strict.acks), ["refused sealed_required final"]);
  const broken = makeBench(undefined, {
    inTurn: { "agent.start": () => Promise.reject(new Error("no file is left")) },
  });
  await broken.intake.receive(start);
  await broken.queues.idle();
  assert.deepEqual(outcomes(broken.acks), ["delivered", "refused start_failed final"]);
  const crashed = makeBench();
  crashed.steps.set(ID, { id: ID, at: 0, step: "typing" });
  await crashed.intake.receive(start);
  assert.deepEqual(outcomes(crashed.acks), ["unknown interrupted final"]);
});

Deno.test("pushes: a counter that was used, is too old or is missing is refused with its reason, and types nothing [replay-window]", async () => {
  const reasons = { used: "counter_used", old: "counter_old", uncounted: "counter_missing" } as const;
  for (const [verdict, reason] of Object.entries(reasons)) {
    const bench = makeBench(undefined, {
      unseal: (push) => Promise.resolve({ found: push, seal: { pairing: "a", counter: 1 } }),
      journal: {
        state: () => undefined,
        record: () => Promise.resolve(),
        take: () => Promise.resolve(verdict as keyof typeof reasons),
        promise: () => true,
      },
    });
    await bench.intake.receive({ ...push, sealed });
    assert.deepEqual(outcomes(bench.acks), [`refused ${reason} final`]);
    assert.equal(bench.injected.length, 0);
  }
});

Deno.test("pushes: forgeries take no place in a session's queue [replay-window]", async () => {
  let release = (): void => {};
  const blocked = new Promise<Outcome>((resolve) => release = () => resolve({ state: "submitted" }));
  const bench = makeBench(() => blocked, {
    floor: () => Promise.resolve("psk"),
    unseal: (push) =>
      Promise.resolve(
        push.body === "good"
          ? { found: push, seal: { pairing: "a", counter: 1 } }
          : { found: { state: "refused", reason: "unsealable" } },
      ),
  });
  const idOf = (n: number): string => ID.slice(0, -3) + String(n).padStart(3, "0");
  for (let n = 1; n <= 2 * QUEUE_MAX; n++) await bench.intake.receive({ ...push, id: idOf(n), sealed });
  await bench.intake.receive({ ...push, id: idOf(999), body: "good", sealed });
  release();
  await bench.queues.idle();
  assert.deepEqual(bench.injected.map(({ body }) => body), ["good"]);
});
