/** The order of the picker, and which names from the relay are used for a paired host. */

import assert from "node:assert/strict";
import {
  findSession,
  groupByHost,
  groupSessions,
  keptHosts,
  screenTitle,
  searchSessions,
  trustedSessions,
  withRemoved,
} from "../../../src/phone/sessions.ts";
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

Deno.test("sessions waiting for the user come first, offline hosts last", () => {
  const groups = groupSessions([offline, online]);
  const named = groups.map((
    { group, sessions },
  ) => [group, sessions.map(({ entry }) => entry.name).join("")]);
  assert.deepEqual(named, [["waiting", "fd"], ["working", "ce"], ["idle", "ga"], ["ended", "b"], [
    "offline",
    "h",
  ]]);
});

Deno.test("there are no empty groups", () => {
  assert.deepEqual(groupSessions([deviceOf({ sessions: [] })]), []);
});

Deno.test("a session is found by host and name: the same name on another host is another session", () => {
  const twin = deviceOf({ deviceId: "dev_listener_2", host: "laptop" });
  const found = findSession([deviceOf(), twin], { deviceId: "dev_listener_2", session: "svc-demo" });
  assert.equal(found?.host, "laptop");
  assert.equal(findSession([twin], { deviceId: "dev_listener_1", session: "svc-demo" }), undefined);
});

Deno.test("a title that equals the host's name, tmux's default, is not shown", () => {
  const device = deviceOf({
    sessions: [entryOf({ title: "workstation" }), entryOf({ name: "b", title: "✳ Fix it" })],
  });
  const titles = ["svc-demo", "b"].map((session) => {
    const found = findSession([{ ...device, host: "workstation" }], { deviceId: device.deviceId, session });
    return found && screenTitle(found);
  });
  assert.deepEqual(titles, ["", "✳ Fix it"]);
});

Deno.test("a paired host has its proven name, and its sessions get labels derived from their names [sec-active-relay, hostile-relay]", () => {
  const device = deviceOf();
  const [entry] = device.sessions;
  assert.ok(entry);
  const named = (name: string, more: Record<string, unknown> = {}) => ({
    ...entry,
    name,
    project: "prod",
    agentLabel: "Claude",
    ordinal: 2,
    label: "prod · Claude #2",
    ...more,
  });
  const told = {
    ...device,
    host: "another",
    sessions: [named("svc-prod-2"), named("svc-test"), named("mine", { agentLabel: "", label: "svc-prod" })],
  };
  const trusted = trustedSessions(told, { host: "workstation" });
  assert.equal(trusted.host, "workstation");
  assert.deepEqual(trusted.sessions.map(({ label }) => label), ["prod · Claude #2", "svc-test", "mine"]);
  assert.deepEqual(trustedSessions(told, undefined), told);
});

Deno.test("a search finds sessions that contain every word, ignoring case and diacritics [ux-search]", () => {
  const devices = [
    deviceOf({ host: "Werkstatt", sessions: [entryOf({ name: "svc-cafe", title: "Straße" }), entryOf()] }),
    deviceOf({ deviceId: "dev_listener_2", host: "laptop", sessions: [entryOf({ agentLabel: "Codex" })] }),
  ];
  const found = (query: string): string[] =>
    searchSessions(devices, query).flatMap(({ host, sessions }) =>
      sessions.map(({ name }) => `${host} ${name}`)
    );
  assert.deepEqual(found("CAFÉ  strasse"), ["Werkstatt svc-cafe"]);
  assert.deepEqual(found("codex"), ["laptop svc-demo"]);
  assert.deepEqual(found("werk demo"), ["Werkstatt svc-cafe", "Werkstatt svc-demo"]);
  assert.deepEqual([found(" ").length, found("nothing").length], [3, 0]);
});

Deno.test("grouped by host, online hosts come first, each with its most urgent session first; a removed host is hidden until it is online again [ux-by-host, ux-remove-host]", () => {
  const offline = deviceOf({ deviceId: "dev_listener_0", host: "attic", online: false, lastSeen: NOW });
  const sessions = [entryOf({ name: "svc-a" }), entryOf({ name: "svc-b", state: "waiting" })];
  const devices = [offline, deviceOf({ sessions })];
  const groups = groupByHost(devices).map(({ device, sessions }) =>
    [device.host, ...sessions.map(({ entry }) => entry.name)].join(" ")
  );
  assert.deepEqual(groups, ["workstation svc-b svc-a", "attic svc-demo"]);
  const removed = withRemoved({}, offline);
  const hosts = (device: typeof offline): number => keptHosts([device], removed).length;
  assert.deepEqual([hosts(offline), hosts({ ...offline, online: true })], [0, 1]);
  assert.equal(hosts({ ...offline, lastSeen: NOW + 1 }), 1);
});
