/** What svc up prints as the sessions change. */
import assert from "node:assert/strict";
import { changedLines, shownOf } from "../../../../src/cli/up/watch.ts";
import type { ListedEntry } from "../../../../src/cli/sessions.ts";

const NOW = 1_795_000_000_000;

function entry(name: string, change: Partial<ListedEntry> = {}): ListedEntry {
  return {
    ...{ deviceId: "dev_listener_1", host: "desk", online: true, lastSeen: NOW },
    ...{ name, project: "p", agent: "cc", agentLabel: "Claude", ordinal: 1, label: "p · Claude" },
    ...{ state: "idle", stateSince: NOW - 180_000, attached: false, lastActivity: NOW, cwd: "/p" },
    ...{ title: "", cols: 80, rows: 24, muted: false, addressable: true },
    ...change,
  };
}

Deno.test("the table is printed once, then only the rows that changed; again when a session comes or goes", () => {
  const before = [entry("svc-a"), entry("svc-b")];
  assert.equal(changedLines(before, undefined, NOW).length, 4);
  const later = [entry("svc-a", { lastActivity: NOW + 1, title: "spinning" }), entry("svc-b")];
  assert.deepEqual(changedLines(later, shownOf(before), NOW + 60_000), []);
  const working = [entry("svc-a"), entry("svc-b", { state: "working", stateSince: NOW })];
  assert.deepEqual(changedLines(working, shownOf(before), NOW), [
    "svc-b    p · Claude  working  0 s    -         desk",
  ]);
  assert.equal(changedLines([entry("svc-a")], shownOf(before), NOW).length, 3);
  assert.deepEqual(changedLines([], shownOf(before), NOW), ["", "No sessions. Start one with: svc cc"]);
});
