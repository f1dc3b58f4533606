/** The inventory is polled, reported and logged by the clock. */
import assert from "node:assert/strict";
import { Reporter } from "../../../src/listener/reporter.ts";
import { Stopping } from "../../../src/listener/outcome.ts";
import type { SessionEntry } from "../../../src/protocol/session.ts";

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
