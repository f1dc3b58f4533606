/** The table of sessions. */
import assert from "node:assert/strict";
import { type Clock, systemClock } from "../../../src/async/clock.ts";
import {
  changedLines,
  type ListedEntry,
  listEntries,
  sessionTable,
  shownOf,
  watchSessions,
} from "../../../src/cli/sessions.ts";
import type { DeviceSessions } from "../../../src/protocol/session.ts";
import { sampleSession } from "../../helpers/sample_session.ts";

const NOW = 1_795_000_000_000;

const SESSION = sampleSession({
  state: "waiting",
  stateSince: NOW - 180_000,
  attached: true,
  lastActivity: NOW,
});

const HOST = { deviceId: "dev_listener_1", host: "workstation", online: true, lastSeen: NOW };
const DEVICE: DeviceSessions = { ...HOST, sessions: [SESSION] };

Deno.test("one row for each session, in columns; colors only on a terminal [cli-sessions]", () => {
  assert.deepEqual(sessionTable(listEntries([DEVICE]), NOW), [
    "SESSION  LABEL       STATE     SINCE   TERMINAL  HOST",
    "svc-p    p · Claude  waiting   3 min   attached  workstation",
  ]);
});

Deno.test("a host that is offline is shown with when it was last seen", () => {
  const away = { ...DEVICE, online: false, lastSeen: NOW - 7_200_000 };
  assert.match(sessionTable(listEntries([away]), NOW)[1] ?? "", /workstation \(last seen 2 h ago\)$/);
});

Deno.test("muting is shown next to the state [cli-mute]", () => {
  const muted = { ...DEVICE, sessions: DEVICE.sessions.map((one) => ({ ...one, muted: true })) };
  assert.match(sessionTable(listEntries([muted]), NOW)[1] ?? "", / waiting, muted +3 min /);
});

Deno.test("without sessions the table says how to start one", () => {
  assert.deepEqual(sessionTable([], NOW), ["No sessions. Start one with: svc cc"]);
});

function entry(name: string, change: Partial<ListedEntry> = {}): ListedEntry {
  return { ...HOST, ...SESSION, name, state: "idle", attached: false, ...change };
}

Deno.test("rows that are printed later are aligned with the headings", () => {
  const starting = [entry("svc-a", { state: "starting", stateSince: NOW })];
  const [head = ""] = sessionTable(starting, NOW);
  const [row = ""] = changedLines([entry("svc-a", { stateSince: NOW - 600_000 })], shownOf(starting), NOW);
  assert.equal(row.indexOf("10 min"), head.indexOf("SINCE"));
  assert.equal(row.indexOf("workstation"), head.indexOf("HOST"));
});

Deno.test("the table is printed once, then only the rows that changed; again when a session comes or goes", () => {
  const before = [entry("svc-a"), entry("svc-b")];
  assert.equal(changedLines(before, undefined, NOW).length, 4);
  const later = [entry("svc-a", { lastActivity: NOW + 1, title: "spinning" }), entry("svc-b")];
  assert.deepEqual(changedLines(later, shownOf(before), NOW + 60_000), []);
  const working = [entry("svc-a"), entry("svc-b", { state: "working", stateSince: NOW })];
  assert.deepEqual(changedLines(working, shownOf(before), NOW), [
    "svc-b    p · Claude  working   0 s     -         workstation",
  ]);
  assert.equal(changedLines([entry("svc-a")], shownOf(before), NOW).length, 3);
  assert.deepEqual(changedLines([], shownOf(before), NOW), ["", "No sessions. Start one with: svc cc"]);
});

const AT_ONCE: Clock = { ...systemClock, after: (_, action) => systemClock.after(0, action) };

Deno.test("svc up shows no empty table while a listener that has just connected reports its sessions [up-inventory]", async () => {
  const ended = new AbortController();
  const answers = [[], [], [DEVICE], [DEVICE]];
  const written: string[] = [];
  const sessions = (): Promise<{ devices: DeviceSessions[] }> => {
    const devices = answers.shift() ?? [];
    if (answers.length === 0) ended.abort();
    return Promise.resolve({ devices });
  };
  const write = (text: string): void => void written.push(text);
  await watchSessions({ sessions }, { signal: ended.signal, clock: AT_ONCE, write });
  assert.deepEqual(written.map((text) => text.includes("svc-p ")), [true]);
});

Deno.test("without sessions svc up says how to start one", async () => {
  const ended = new AbortController();
  const written: string[] = [];
  const write = (text: string): void => {
    written.push(text);
    ended.abort();
  };
  const sessions = (): Promise<{ devices: DeviceSessions[] }> => Promise.resolve({ devices: [] });
  await watchSessions({ sessions }, { signal: ended.signal, clock: AT_ONCE, write });
  assert.deepEqual(written, ["\nNo sessions. Start one with: svc cc"]);
});
