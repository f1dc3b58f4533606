/** Which sessions the picker shows, in which order and under which heading. */
import type { AgentState, DeviceSessions, SessionEntry } from "../protocol/session.ts";

export interface PickedSession {
  deviceId: string;
  host: string;
  online: boolean;
  /** Epoch milliseconds at which the host was there last. */
  lastSeen: number;
  entry: SessionEntry;
}

export type Group = "waiting" | "working" | "idle" | "offline";
const GROUPS: readonly Group[] = ["waiting", "working", "idle", "offline"];

const GROUP_OF: Record<AgentState, Group> = {
  waiting: "waiting",
  working: "working",
  starting: "working",
  idle: "idle",
  exited: "idle",
};

export function groupOf(session: PickedSession): Group {
  return session.online ? GROUP_OF[session.entry.state] : "offline";
}

/** The groups that have sessions: those that wait for a person first, hosts that are away last. */
export function groupSessions(
  devices: readonly DeviceSessions[],
): { group: Group; sessions: PickedSession[] }[] {
  const all = devices.flatMap(pick);
  return GROUPS
    .map((group) => ({
      group,
      sessions: all.filter((session) => groupOf(session) === group).sort(byUrgency),
    }))
    .filter(({ sessions }) => sessions.length > 0);
}

export function findSession(
  devices: readonly DeviceSessions[],
  name: { deviceId: string; session: string },
): PickedSession | undefined {
  return devices.flatMap(pick).find(({ deviceId, entry }) =>
    deviceId === name.deviceId && entry.name === name.session
  );
}

/** What the program calls its screen; empty for the host's name, which tmux gives to every screen at first. */
export function screenTitle({ entry: { title }, host }: PickedSession): string {
  return title === host ? "" : title;
}

function pick({ deviceId, host, online, lastSeen, sessions }: DeviceSessions): PickedSession[] {
  return sessions.map((entry) => ({ deviceId, host, online, lastSeen, entry }));
}

/** An ended session goes last; then whoever changed last comes first; names keep the order still. */
function byUrgency(one: PickedSession, other: PickedSession): number {
  const ended = Number(one.entry.state === "exited") - Number(other.entry.state === "exited");
  return ended || other.entry.stateSince - one.entry.stateSince ||
    one.entry.name.localeCompare(other.entry.name);
}
