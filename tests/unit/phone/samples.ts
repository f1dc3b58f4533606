/** Sessions, pushes and messages for the phone's tests. */
import type { Message, Progress } from "../../../src/phone/message.ts";
import type { PushRecord } from "../../../src/protocol/push.ts";
import type { PushState, Receipt } from "../../../src/protocol/receipt.ts";
import type { DeviceSessions, SessionEntry } from "../../../src/protocol/session.ts";

export const NOW = 1_800_000_000_000;

/** A push id that ends in `number`. */
export const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

export function entryOf(changed: Partial<SessionEntry> = {}): SessionEntry {
  return {
    name: "svc-demo",
    project: "demo",
    agent: "cc",
    agentLabel: "Claude",
    ordinal: 1,
    label: "demo · Claude",
    state: "idle",
    stateSince: NOW - 60_000,
    attached: false,
    lastActivity: NOW,
    cwd: "/home/u/demo",
    title: "",
    cols: 80,
    rows: 24,
    muted: false,
    addressable: true,
    ...changed,
  };
}

export function deviceOf(changed: Partial<DeviceSessions> = {}): DeviceSessions {
  return {
    deviceId: "dev_listener_1",
    host: "workstation",
    online: true,
    lastSeen: NOW,
    sessions: [entryOf()],
    ...changed,
  };
}

export function receiptOf(state: PushState, changed: Partial<Receipt> = {}): Receipt {
  const final = ["submitted", "refused", "expired", "unknown", "ignored"].includes(state);
  return { state, final, at: { [state]: NOW }, ...changed };
}

export function recordOf(number: number, receipt: Receipt = receiptOf("submitted")): PushRecord {
  return {
    push: {
      id: idOf(number),
      type: "agent.command",
      targetDeviceId: "dev_listener_1",
      agentSessionName: "svc-demo",
      body: `text ${number}`,
      from: "dev_phone_1",
      createdAt: NOW + number,
      expiresAt: NOW + 3_600_000,
    },
    receipt,
  };
}

export function messageOf(number: number, progress: Progress = { kind: "outbox" }): Message {
  return {
    id: idOf(number),
    deviceId: "dev_listener_1",
    session: "svc-demo",
    body: `text ${number}`,
    createdAt: NOW + number,
    progress,
  };
}

export const takenWith = (receipt: Receipt): Progress => ({
  kind: "taken",
  receipt,
  expiresAt: NOW + 3_600_000,
});
