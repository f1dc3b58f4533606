/** Messages that wait for a time, for an idle agent, or for the reset of its usage limit. */
import assert from "node:assert/strict";
import { CLOCK_JUMP_MS } from "../../../src/async/clock.ts";
import {
  LATER_MAX,
  laterPush,
  LaterPushes,
  NEXT_IDLE_MS,
  RelayClock,
} from "../../../src/listener/waiting_pushes.ts";
import { SKEW_MS } from "../../../src/protocol/limits.ts";
import type { Later } from "../../../src/protocol/push.ts";
import type { SessionEntry } from "../../../src/protocol/session.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { sessionNamed } from "../relay/fixture.ts";
import { ID, makeBench as pushBench, outcomes, push } from "./push_bench.ts";

function makeBench() {
  const clock = new FakeClock(1_000);
  const released: string[] = [];
  const ends = new Map<string, () => void>();
  const pushes = new LaterPushes(clock);
  const add = (id: string, later: Later, expiresAt = 1e9): boolean =>
    pushes.add(id, {
      session: "svc-a",
      later,
      atMs: later.kind === "at" ? later.at : 0,
      expiresAt,
      release: () => {
        released.push(id);
        return new Promise((resolve) => ends.set(id, resolve));
      },
    });
  const observe = (change: Partial<SessionEntry> = {}): void =>
    pushes.observe([{ ...sessionNamed("svc-a"), ...change }]);
  const end = async (id: string): Promise<void> => {
    ends.get(id)?.();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { clock, released, pushes, add, observe, end };
}

Deno.test("later: a message waits for its time, whatever the session does [later-typed]", () => {
  const { clock, released, add, observe } = makeBench();
  add("a", { kind: "at", at: 5_000 });
  observe();
  assert.deepEqual(released, []);
  clock.advance(4_000);
  observe({ state: "working" });
  observe();
  assert.deepEqual(released, ["a"], "once");
});

Deno.test("later: a clock that is set while a message waits moves neither its time nor its expiry [later-typed, fault-clock]", async () => {
  const DAY_MS = 86_400_000;
  const host = { now: 0, behindMs: DAY_MS };
  const bench = pushBench(undefined, {
    now: () => host.now,
    toLocalTime: (relayMs) => relayMs - host.behindMs,
  });
  const later = { kind: "at", at: DAY_MS + 5_000 };
  const expired = ID.replace(/1$/, "2");
  await bench.intake.receive({ ...push, data: { later }, expiresAt: DAY_MS + 60_000 });
  await bench.intake.receive({
    ...push,
    id: expired,
    data: { later: { kind: "idle" } },
    expiresAt: DAY_MS + 4_000,
  });
  const observed = (): Promise<void> => {
    bench.intake.observe([{ ...sessionNamed("svc-a"), state: "working" }]);
    return bench.queues.idle();
  };
  Object.assign(host, { now: DAY_MS + 3_999, behindMs: 0 });
  await observed();
  assert.deepEqual(outcomes(bench.acks), ["held not_before", "held until_idle"], "early");
  Object.assign(host, { now: 5_000, behindMs: DAY_MS });
  await observed();
  assert.deepEqual(bench.injected.map(({ id }) => id), [ID, expired], "late");
});

Deno.test("later: a message waits for the agent that had the session's name, and for the name once that has ended [later-typed]", () => {
  const agent = { session: "svc-a", socket: "/s", pane: "%1", run: "1 %1 42" };
  let [named, own]: [string, string | undefined] = ["", undefined];
  const pushes = new LaterPushes(new FakeClock(1_000), {
    agentOf: (session) => session === named ? agent : undefined,
    sessionOf: () => own,
  });
  const released: unknown[] = [];
  const release = (meant: unknown): Promise<void> => Promise.resolve(void released.push(meant));
  const add = (id: string): boolean =>
    pushes.add(id, { session: "svc-a", later: { kind: "idle" }, atMs: 0, expiresAt: 1e9, release });
  const observe = (...idle: string[]): void =>
    pushes.observe(["svc-a", "svc-b"].map((name) => ({
      ...sessionNamed(name),
      state: idle.includes(name) ? "idle" : "working",
    })));
  add("before the first inventory");
  [named, own] = ["svc-a", "svc-a"];
  observe();
  // Renamed; another session has the name.
  [named, own] = ["", "svc-b"];
  observe("svc-a");
  assert.deepEqual(released, []);
  observe("svc-b");
  assert.deepEqual(released.splice(0), [agent]);
  [named, own] = ["svc-a", "svc-a"];
  add("ended");
  [named, own] = ["", undefined];
  observe("svc-a");
  assert.deepEqual(released, [agent]);
});

Deno.test("later: one message at a time is typed into an idle session [later-typed]", async () => {
  const { clock, released, add, observe, end } = makeBench();
  add("a", { kind: "idle" });
  add("b", { kind: "idle" });
  for (const state of ["working", "waiting", "exited"] as const) observe({ state });
  observe({ addressable: false });
  assert.deepEqual(released, []);
  observe();
  assert.deepEqual(released, ["a"]);
  await end("a");
  observe();
  assert.deepEqual(released, ["a"], "the screen may not show yet that the agent works");
  clock.advance(NEXT_IDLE_MS);
  observe({ state: "working" });
  observe();
  assert.deepEqual(released, ["a", "b"]);
});

Deno.test("later: a clock that is set back does not delay a message for an idle session [later-typed, fault-clock]", async () => {
  const { clock, released, add, observe, end } = makeBench();
  add("a", { kind: "idle" });
  add("b", { kind: "idle" });
  observe();
  await end("a");
  clock.jump(-3_600_000);
  observe();
  assert.deepEqual(released, ["a"]);
  clock.advance(NEXT_IDLE_MS);
  observe();
  assert.deepEqual(released, ["a", "b"]);
});

Deno.test("later: a message waits until the usage limit has reset [later-typed, later-limit]", () => {
  const { released, add, observe } = makeBench();
  add("a", { kind: "reset" });
  observe({ limit: { resetsAt: 9_000 } });
  observe({ limit: {} });
  assert.deepEqual(released, []);
  observe();
  assert.deepEqual(released, ["a"]);
});

Deno.test("later: a message that expires while it waits ends, and a removed one does not [later-typed]", () => {
  const { clock, released, pushes, add, observe } = makeBench();
  add("a", { kind: "idle" }, 2_000);
  add("b", { kind: "idle" }, 2_000);
  pushes.remove("b");
  clock.advance(1_000);
  observe({ state: "working" });
  assert.deepEqual(released, ["a"]);
});

Deno.test("later: no more messages wait than a host can store", () => {
  const { add } = makeBench();
  for (let n = 0; n < LATER_MAX; n++) assert.ok(add(`${n}`, { kind: "idle" }));
  assert.equal(add("one more", { kind: "idle" }), false);
});

Deno.test("later: a relay that lies about its time cannot have a sealed message typed long before or after its own; a plain one follows the relay [later-typed, hostile-relay]", () => {
  const DAY_MS = 86_400_000;
  const at = 10 * DAY_MS;
  const lying = { toLocalTime: (relayMs: number) => relayMs - 2 * DAY_MS };
  const of = (notAfter?: number): number => {
    const one = { ...push, expiresAt: 20 * DAY_MS, ...(notAfter === undefined ? {} : { notAfter }) };
    return laterPush(one, { later: { kind: "at", at }, time: lying, release: () => Promise.resolve() }).atMs;
  };
  assert.equal(of(11 * DAY_MS), at - SKEW_MS);
  assert.equal(of(), at - 2 * DAY_MS);
  const honest = { toLocalTime: (relayMs: number) => relayMs + 1_000 };
  const sealedPush = { ...push, notAfter: 11 * DAY_MS };
  const later = { later: { kind: "at", at }, time: honest, release: () => Promise.resolve() } as const;
  assert.equal(laterPush(sealedPush, later).atMs, at + 1_000);
  const behind = { toLocalTime: (relayMs: number) => relayMs + DAY_MS };
  assert.equal(laterPush(sealedPush, { ...later, time: behind }).atMs, at + SKEW_MS);
});

Deno.test("a jump of the host's clock is noticed once, and the next welcome gives the relay's time again [fault-clock]", () => {
  const time = { now: 1_000_000, elapsed: 0 };
  let jumps = 0;
  const clock = { now: () => time.now, elapsed: () => time.elapsed };
  const relay = new RelayClock({ clock, jumped: () => void jumps++ });
  assert.ok(!relay.isKnown);
  relay.connected(250);
  time.now += 60_000;
  time.elapsed += 60_000;
  relay.check();
  assert.deepEqual([jumps, relay.toLocalTime(2_000_250), relay.isKnown], [0, 2_000_000, true]);
  for (const jump of [2 * CLOCK_JUMP_MS, -3_600_000]) {
    jumps = 0;
    time.now += jump;
    relay.check();
    relay.check();
    assert.deepEqual([jumps, relay.isKnown], [1, false]);
  }
  relay.connected(-100);
  relay.check();
  assert.deepEqual([jumps, relay.toLocalTime(1_999_900), relay.isKnown], [1, 2_000_000, true]);
});
