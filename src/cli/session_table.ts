/** The sessions of an account as rows: for scripts, and for people. */
import type { DeviceSessions, SessionEntry } from "../protocol/session.ts";
import { duration } from "./duration.ts";
import { columns, paint } from "./output.ts";

/** An inventory entry with the host that it is on. */
export type ListedEntry = SessionEntry & {
  deviceId: string;
  host: string;
  online: boolean;
  lastSeen: number;
};

export function listEntries(devices: readonly DeviceSessions[]): ListedEntry[] {
  return devices.flatMap(({ deviceId, host, online, lastSeen, sessions }) =>
    sessions.map((entry) => ({ ...entry, deviceId, host, online, lastSeen }))
  );
}

/** Lines of a table; `now` is epoch milliseconds. */
export function sessionTable(entries: readonly ListedEntry[], now: number): string[] {
  if (entries.length === 0) return ["No sessions. Start one with: svc cc"];
  const rows = entries.map((entry) => row(entry, now));
  const [head = "", ...lines] = columns([["SESSION", "LABEL", "STATE", "SINCE", "DESK", "HOST"], ...rows]);
  return [
    paint(head, "bold"),
    ...lines.map((line, index) => entries[index]?.online ? line : paint(line, "dim")),
  ];
}

function row(entry: ListedEntry, now: number): string[] {
  const host = entry.online ? entry.host : `${entry.host} (last seen ${duration(now - entry.lastSeen)} ago)`;
  const state = entry.muted ? `${entry.state}, muted` : entry.state;
  const desk = entry.attached ? "attached" : "-";
  return [entry.name, entry.label, state, duration(now - entry.stateSince), desk, host];
}
