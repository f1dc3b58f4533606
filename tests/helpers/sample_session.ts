/** A session as a listener reports it, for tests that need any or change a few fields. */
import type { DeviceSessions } from "../../src/protocol/session.ts";

type Session = DeviceSessions["sessions"][number];

export function sampleSession(change: Partial<Session> = {}): Session {
  return {
    name: "svc-p",
    project: "p",
    agent: "cc",
    agentLabel: "Claude",
    ordinal: 1,
    label: "p · Claude",
    state: "idle",
    stateSince: 1,
    attached: false,
    lastActivity: 1,
    cwd: "/p",
    title: "",
    cols: 80,
    rows: 24,
    muted: false,
    addressable: true,
    ...change,
  };
}
