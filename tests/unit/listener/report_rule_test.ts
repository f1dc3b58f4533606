/** When an inventory is reported and when it is not. */
import assert from "node:assert/strict";
import { shouldReport } from "../../../src/listener/report_rule.ts";
import type { SessionEntry } from "../../../src/protocol/session.ts";

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
