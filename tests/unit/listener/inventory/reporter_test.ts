/** The inventory is polled, reported and logged by the clock. */
import assert from "node:assert/strict";
import { LOOK_GAP_MS } from "../../../../src/listener/inventory/inventory.ts";
import { Reporter, shouldReport } from "../../../../src/listener/inventory/reporter.ts";
import { Stopping } from "../../../../src/listener/inject/outcome.ts";
import type { SessionEntry } from "../../../../src/protocol/session.ts";

const named = (name: string): SessionEntry => ({ name, state: "idle" }) as SessionEntry;

Deno.test("reporter: polls every 5 s, reports changes and the heartbeat, and says so [inv-poll, lim-poll, ws-sessions, log-reported, inv-heartbeat]", async () => {
  let now = 0;
  let sessions = [named("svc-a")];
  const log: string[] = [];
  const sent: { at: number; sequence: number; names: string[] }[] = [];
  const reporter = new Reporter({
    now: () => now,
    read: () => Promise.resolve(sessions),
    send: (report) => {
      sent.push({ at: now, sequence: report.sequence, names: report.sessions.map((one) => one.name) });
      return true;
    },
    log: (line) => void log.push(line),
    pause: (ms) => {
      now += ms;
      if (now === 10_000) sessions = [named("svc-a"), named("svc-b")];
      return now > 45_000 ? Promise.reject(new Stopping()) : Promise.resolve();
    },
    nextReadMs: () => 5_000,
  });
  await assert.rejects(reporter.run(), Stopping);
  assert.deepEqual(sent, [
    { at: 0, sequence: 1, names: ["svc-a"] },
    { at: 10_000, sequence: 2, names: ["svc-a", "svc-b"] },
    { at: 40_000, sequence: 3, names: ["svc-a", "svc-b"] },
  ]);
  assert.deepEqual(log.slice(0, 2), ["reported 1 session(s): svc-a", "reported 2 session(s): svc-a, svc-b"]);
});

Deno.test("reporter: without a connection nothing counts as reported", async () => {
  let connected = false;
  const log: string[] = [];
  const reporter = new Reporter({
    now: () => 0,
    read: () => Promise.resolve([named("svc-a")]),
    send: () => connected,
    log: (line) => void log.push(line),
    pause: () => Promise.resolve(),
    nextReadMs: () => 5_000,
  });
  await reporter.poll();
  assert.deepEqual(log, []);
  connected = true;
  await reporter.poll();
  await reporter.poll();
  assert.equal(log.length, 1);
  reporter.forget();
  await reporter.poll();
  assert.equal(log.length, 2);
});

Deno.test("reporter: reports that come at any rate do not make it look more often than the gap allows [ls-state-pace]", async () => {
  let now = 0;
  const looks: number[] = [];
  const pauses: number[] = [];
  const reporter = new Reporter({
    now: () => now,
    read: () => Promise.resolve((looks.push(now), [])),
    send: () => true,
    log: () => {},
    // A report cuts the first pause of each pair short.
    pause: (ms) => {
      pauses.push(ms);
      now += ms === 400 ? 10 : ms;
      return looks.length > 3 ? Promise.reject(new Stopping()) : Promise.resolve();
    },
    nextReadMs: () => 400,
  });
  await assert.rejects(reporter.run(), Stopping);
  assert.deepEqual(looks, [0, LOOK_GAP_MS, 2 * LOOK_GAP_MS, 3 * LOOK_GAP_MS]);
  assert.deepEqual(pauses.slice(0, 2), [400, LOOK_GAP_MS - 10]);
});

const entry: SessionEntry = {
  name: "svc-a",
  project: "a",
  agent: "cc",
  agentLabel: "Claude",
  ordinal: 1,
  label: "a · Claude",
  state: "idle",
  stateSince: 1,
  attached: false,
  lastActivity: 1,
  cwd: "/a",
  title: "",
  cols: 80,
  rows: 24,
  muted: false,
  addressable: true,
};
const rule = (current: SessionEntry[], reported: SessionEntry[] | undefined, sinceReportMs = 5_000) =>
  shouldReport({ current, reported, sinceReportMs });

Deno.test("report rule: the first inventory of a connection is reported, also an empty one", () => {
  assert.equal(rule([], undefined), "changed");
});

Deno.test("report rule: a new session, a state, activity [inv-new, inv-state, inv-activity, ev-report]", () => {
  assert.equal(rule([entry, { ...entry, name: "svc-b" }], [entry]), "changed");
  assert.equal(rule([], [entry]), "changed");
  assert.equal(rule([{ ...entry, state: "working" }], [entry]), "changed");
  assert.equal(rule([{ ...entry, lastActivity: 2 }], [entry]), "changed");
});

Deno.test("report rule: an unchanged inventory only every 30 seconds [inv-unchanged, inv-heartbeat, lim-heartbeat]", () => {
  assert.equal(rule([entry], [{ ...entry }], 29_999), undefined);
  assert.equal(rule([entry], [{ ...entry }], 30_000), "heartbeat");
});
