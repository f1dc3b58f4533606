/** Inventory entries: the fields the picker needs, the states, and fields of later versions. */
import assert from "node:assert/strict";
import { SESSIONS_MAX } from "../../../src/protocol/limits.ts";
import { AGENT_STATES, SessionEntry, SessionList } from "../../../src/protocol/session.ts";

const ENTRY = {
  name: "svc-proj",
  project: "proj",
  agent: "cc",
  agentLabel: "Claude",
  ordinal: 1,
  label: "proj · Claude",
  state: "idle",
  stateSince: 1,
  attached: false,
  lastActivity: 2,
  cwd: "/proj",
  title: "",
  cols: 80,
  rows: 24,
  muted: false,
  addressable: true,
};

Deno.test("each field of an entry is required [entry-fields]", () => {
  assert.deepEqual(SessionEntry.parse(ENTRY), ENTRY);
  for (const field of Object.keys(ENTRY)) {
    assert.ok(!SessionEntry.safeParse({ ...ENTRY, [field]: undefined }).success, field);
  }
});

Deno.test("an agent is starting, working, waiting, idle or exited [entry-states]", () => {
  assert.deepEqual([...AGENT_STATES], ["starting", "working", "waiting", "idle", "exited"]);
  assert.ok(!SessionEntry.safeParse({ ...ENTRY, state: "thinking" }).success);
});

Deno.test("unknown fields stay in the entry", () => {
  assert.deepEqual(SessionEntry.parse({ ...ENTRY, later: { a: 1 } }), { ...ENTRY, later: { a: 1 } });
});

Deno.test("sessions with other characters in their names are listed too, and the number of sessions is bounded", () => {
  assert.ok(SessionEntry.safeParse({ ...ENTRY, name: "my work", addressable: false }).success);
  const list = (count: number): unknown[] => Array.from({ length: count }, () => ENTRY);
  assert.ok(SessionList.safeParse(list(SESSIONS_MAX)).success);
  assert.ok(!SessionList.safeParse(list(SESSIONS_MAX + 1)).success);
});
