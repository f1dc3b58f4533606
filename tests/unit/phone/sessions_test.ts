/** The order of the picker. */

import assert from "node:assert/strict";
import { findSession, groupSessions, screenTitle } from "../../../src/phone/sessions.ts";
import { deviceOf, entryOf, NOW } from "./samples.ts";

const online = deviceOf({
  sessions: [
    entryOf({ name: "a", state: "idle", stateSince: NOW - 5 }),
    entryOf({ name: "b", state: "exited", stateSince: NOW }),
    entryOf({ name: "c", state: "working" }),
    entryOf({ name: "d", state: "waiting", stateSince: NOW - 9 }),
    entryOf({ name: "e", state: "starting" }),
    entryOf({ name: "f", state: "waiting", stateSince: NOW - 1 }),
    entryOf({ name: "g", state: "idle", stateSince: NOW - 2 }),
  ],
});
const offline = deviceOf({
  deviceId: "dev_listener_2",
  online: false,
  sessions: [entryOf({ name: "h", state: "waiting" })],
});

Deno.test("what waits for a person comes first, hosts that are away come last", () => {
  const groups = groupSessions([offline, online]);
  const named = groups.map((
    { group, sessions },
  ) => [group, sessions.map(({ entry }) => entry.name).join("")]);
  assert.deepEqual(named, [["waiting", "fd"], ["working", "ce"], ["idle", "gab"], ["offline", "h"]]);
});

Deno.test("no sessions make no group", () => {
  assert.deepEqual(groupSessions([deviceOf({ sessions: [] })]), []);
});

Deno.test("a session is found by its host and name: the same name on another host is another session", () => {
  const twin = deviceOf({ deviceId: "dev_listener_2", host: "laptop" });
  const found = findSession([deviceOf(), twin], { deviceId: "dev_listener_2", session: "svc-demo" });
  assert.equal(found?.host, "laptop");
  assert.equal(findSession([twin], { deviceId: "dev_listener_1", session: "svc-demo" }), undefined);
});

Deno.test("a screen that is called as its host, as tmux calls every new one, has no title", () => {
  const device = deviceOf({
    sessions: [entryOf({ title: "desk" }), entryOf({ name: "b", title: "✳ Fix it" })],
  });
  const titles = ["svc-demo", "b"].map((session) => {
    const found = findSession([{ ...device, host: "desk" }], { deviceId: device.deviceId, session });
    return found && screenTitle(found);
  });
  assert.deepEqual(titles, ["", "✳ Fix it"]);
});
