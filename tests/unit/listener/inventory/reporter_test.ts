/** The inventory is polled, reported and logged on a schedule. */
import assert from "node:assert/strict";
import { POLL_GAP_MS } from "../../../../src/listener/inventory/inventory.ts";
import { InventoryPolling, Reporter, shouldReport } from "../../../../src/listener/inventory/reporter.ts";
import { Stopping } from "../../../../src/listener/inject/context.ts";
import type { SessionEntry } from "../../../../src/protocol/session.ts";

const named = (name: string): SessionEntry => ({ name, state: "idle" }) as SessionEntry;

Deno.test("reporter: polls every 5 s, reports changes and the heartbeat, and logs them [inv-poll, lim-poll, ws-sessions, log-reported, inv-heartbeat]", async () => {
  let now = 0;
  let sessions = [named("svc-a")];
  const log: string[] = [];
  const sent: { at: number; sequence: number; names: string[] }[] = [];
  const reporter = new Reporter({ read: () => Promise.resolve(sessions), nextReadMs: () => 5_000 }, {
    elapsed: () => now,
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
  const reporter = new Reporter({ read: () => Promise.resolve([named("svc-a")]), nextReadMs: () => 5_000 }, {
    elapsed: () => 0,
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
  reporter.connected();
  await reporter.poll();
  assert.equal(log.length, 2);
});

Deno.test("reporter: hook reports at any rate do not make it poll more often than the gap allows [ls-state-pace]", async () => {
  let now = 0;
  const reads: number[] = [];
  const pauses: number[] = [];
  const reporter = new Reporter(
    { read: () => Promise.resolve((reads.push(now), [])), nextReadMs: () => 400 },
    {
      elapsed: () => now,
      send: () => true,
      log: () => {},
      // A report shortens the first pause of each pair.
      pause: (ms) => {
        pauses.push(ms);
        now += ms === 400 ? 10 : ms;
        return reads.length > 3 ? Promise.reject(new Stopping()) : Promise.resolve();
      },
    },
  );
  await assert.rejects(reporter.run(), Stopping);
  assert.deepEqual(reads, [0, POLL_GAP_MS, 2 * POLL_GAP_MS, 3 * POLL_GAP_MS]);
  assert.deepEqual(pauses.slice(0, 2), [400, POLL_GAP_MS - 10]);
});

Deno.test("reporter: a clock that is set back during a pause does not make the next one longer [ls-state-pace, fault-clock]", async () => {
  const { now } = Date;
  const pauses: number[] = [];
  let setBackMs = 0;
  const reporter = new Reporter({ read: () => Promise.resolve([]), nextReadMs: () => 5_000 }, {
    send: () => true,
    log: () => {},
    pause: (ms) => {
      pauses.push(ms);
      setBackMs = 3_600_000;
      return pauses.length > 1 ? Promise.reject(new Stopping()) : Promise.resolve();
    },
  });
  Date.now = () => now() - setBackMs;
  try {
    await assert.rejects(reporter.run(), Stopping);
  } finally {
    Date.now = now;
  }
  assert.equal(pauses[0], 5_000);
  assert.ok(pauses[1] !== undefined && pauses[1] <= POLL_GAP_MS, pauses.join());
});

Deno.test("reporter: a rejected report is sent again with a growing delay, until one is stored [inv-rejected]", async () => {
  let now = 0;
  let isRejecting = true;
  const sent: number[] = [];
  const log: string[] = [];
  let answered = 0;
  const reporter = new Reporter({ read: () => Promise.resolve([named("svc-a")]), nextReadMs: () => 5_000 }, {
    elapsed: () => now,
    send: () => sent.push(now) > 0,
    log: (line) => void log.push(line),
    pause: (ms) => {
      if (answered < sent.length) {
        answered = sent.length;
        if (isRejecting) reporter.rejected("sessions.0.name: too long");
        else reporter.stored(1);
        // The answer ends the pause early.
        return Promise.resolve();
      }
      now += ms;
      if (now >= 5_000) isRejecting = false;
      return now > 20_000 ? Promise.reject(new Stopping()) : Promise.resolve();
    },
  });
  await assert.rejects(reporter.run(), Stopping);
  const delays = sent.slice(1).map((at, index) => at - sent[index]!);
  assert.deepEqual(delays, [1_000, 2_000, 4_000]);
  assert.equal(log.filter((line) => line.startsWith("! server rejected")).length, 3);
  isRejecting = true;
  reporter.rejected("again");
  now += 1_000;
  await reporter.poll();
  assert.equal(sent.at(-1), now, "the delay starts anew after a stored report");
});

Deno.test("reporter: after a rejection a changed inventory waits for the delay too, until a report is stored [inv-rejected]", async () => {
  let now = 0;
  let reads = 0;
  let sent = 0;
  const reporter = new Reporter(
    { read: () => Promise.resolve([named(`svc-${++reads}`)]), nextReadMs: () => 5_000 },
    { elapsed: () => now, send: () => ++sent > 0, log: () => {}, pause: () => Promise.resolve() },
  );
  const pollAt = async (ms: number): Promise<number> => {
    now = ms;
    await reporter.poll();
    return sent;
  };
  assert.equal(await pollAt(0), 1);
  reporter.rejected("too many requests");
  assert.equal(await pollAt(999), 1);
  assert.equal(await pollAt(1_000), 2);
  assert.equal(await pollAt(1_200), 2, "the second one is not answered yet");
  reporter.rejected("too many requests");
  assert.equal(await pollAt(3_199), 2);
  assert.equal(await pollAt(3_200), 3);
  reporter.stored(1);
  assert.equal(await pollAt(3_400), 4);
});

Deno.test("reporter: while the sessions cannot be read, a rejected report does not shorten the pauses", async () => {
  let isBroken = false;
  const pauses: number[] = [];
  const reporter = new Reporter({
    read: () => isBroken ? Promise.reject(new Error("no tmux")) : Promise.resolve([named("svc-a")]),
    nextReadMs: () => 5_000,
  }, {
    elapsed: () => 0,
    send: () => true,
    log: () => {},
    pause: (ms) => pauses.push(ms) > 3 ? Promise.reject(new Stopping()) : Promise.resolve(),
  });
  await reporter.poll();
  reporter.rejected("bad");
  isBroken = true;
  await assert.rejects(reporter.run(), Stopping);
  assert.deepEqual(pauses, [5_000, POLL_GAP_MS, 5_000, POLL_GAP_MS]);
});

Deno.test("reporter: typing after the end starts no timer", async () => {
  const polling = new InventoryPolling({
    sessions: () => Promise.resolve([]),
    server: () => ({ socket: "", run: () => Promise.resolve("") }),
    muted: () => Promise.resolve(() => false),
    send: () => true,
    log: () => {},
  });
  polling.start();
  await polling.close();
  // If a timer were left, this test would fail.
  polling.typed();
});

Deno.test("reporter: without a connection a rejected report does not shorten the pauses", async () => {
  let connected = true;
  const pauses: number[] = [];
  let now = 0;
  const reporter = new Reporter({ read: () => Promise.resolve([named("svc-a")]), nextReadMs: () => 5_000 }, {
    elapsed: () => now,
    send: () => connected,
    log: () => {},
    pause: (ms) => {
      pauses.push(ms);
      now += ms;
      return pauses.length > 3 ? Promise.reject(new Stopping()) : Promise.resolve();
    },
  });
  await reporter.poll();
  reporter.rejected("bad");
  connected = false;
  await assert.rejects(reporter.run(), Stopping);
  assert.deepEqual(pauses, [1_000, 5_000, 5_000, 5_000]);
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

Deno.test("report rule: the first inventory of a connection is reported, even an empty one", () => {
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

Deno.test("reporter: details are sent when they are due, again after a rejection, and their error is logged once [det-report]", async () => {
  const reported = { plain: { at: 1 } };
  let due: boolean | "broken" = true;
  const events: string[] = [];
  const reporter = new Reporter({ read: () => Promise.resolve([]), nextReadMs: () => 5_000 }, {
    elapsed: () => 0,
    send: ({ details }) => events.push(`sent ${JSON.stringify(details) ?? "none"}`) > 0,
    log: (line) => void (line.startsWith("! cannot") && events.push(line)),
    pause: () => Promise.resolve(),
    details: {
      next: () => {
        if (due === "broken") return Promise.reject(new Error("no such file"));
        return Promise.resolve(due ? { reported, digest: "d", lines: "", at: 0 } : undefined);
      },
      sent: () => void (due = false),
      forget: () => void (due = true),
    },
  });
  reporter.connected();
  await reporter.poll();
  await reporter.poll();
  assert.deepEqual(events.splice(0), ['sent {"plain":{"at":1}}']);
  reporter.rejected("over_budget");
  reporter.connected();
  await reporter.poll();
  assert.deepEqual(events.splice(0), ['sent {"plain":{"at":1}}']);
  reporter.connected();
  due = "broken";
  await reporter.poll();
  await reporter.poll();
  assert.deepEqual(events, ["! cannot report the host's details: no such file", "sent none"]);
});
