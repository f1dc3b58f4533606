/** The table of sessions. */
import assert from "node:assert/strict";
import { listEntries, sessionTable } from "../../../src/cli/sessions.ts";
import type { DeviceSessions } from "../../../src/protocol/session.ts";

const NOW = 1_795_000_000_000;

const DEVICE: DeviceSessions = {
  ...{ deviceId: "dev_listener_1", host: "desk", online: true, lastSeen: NOW },
  sessions: [{
    ...{ name: "svc-p", project: "p", agent: "cc", agentLabel: "Claude", ordinal: 1, label: "p · Claude" },
    ...{ state: "waiting", stateSince: NOW - 180_000, attached: true, lastActivity: NOW, cwd: "/p" },
    ...{ title: "", cols: 80, rows: 24, muted: false, addressable: true },
  }],
};

Deno.test("one row for each session, in columns; colours only on a terminal [cli-sessions]", () => {
  assert.deepEqual(sessionTable(listEntries([DEVICE]), NOW), [
    "SESSION  LABEL       STATE    SINCE  TERMINAL  HOST",
    "svc-p    p · Claude  waiting  3 min  attached  desk",
  ]);
});

Deno.test("a host that is offline is shown with when it was last seen", () => {
  const away = { ...DEVICE, online: false, lastSeen: NOW - 7_200_000 };
  assert.match(sessionTable(listEntries([away]), NOW)[1] ?? "", /desk \(last seen 2 h ago\)$/);
});

Deno.test("muting is shown beside the state [cli-mute]", () => {
  const muted = { ...DEVICE, sessions: DEVICE.sessions.map((one) => ({ ...one, muted: true })) };
  assert.match(sessionTable(listEntries([muted]), NOW)[1] ?? "", / waiting, muted +3 min /);
});

Deno.test("without sessions the table says how to start one", () => {
  assert.deepEqual(sessionTable([], NOW), ["No sessions. Start one with: svc cc"]);
});
