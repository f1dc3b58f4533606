/** The sessions in the picker: how they are named, grouped and sorted, and which names the relay may give them. */
import type { PairedHost } from "../client/claim_pairing.ts";
import type { AgentState, DeviceSessions, HostDetails, SessionEntry } from "../protocol/session.ts";
import { sessionLabel, sessionName } from "../protocol/names.ts";

/** Session names are unique only within one host. */
export interface SessionName {
  deviceId: string;
  session: string;
}

/** Identifies a session across hosts. */
export function sessionKey({ deviceId, session }: SessionName): string {
  return `${deviceId}/${session}`;
}

export interface HostSession {
  deviceId: string;
  host: string;
  online: boolean;
  /** When the host was last online, in epoch milliseconds. */
  lastSeen: number;
  entry: SessionEntry;
}

export type Group = "waiting" | "working" | "idle" | "ended" | "offline";
const GROUPS: readonly Group[] = ["waiting", "working", "idle", "ended", "offline"];

const GROUP_OF: Record<AgentState, Group> = {
  waiting: "waiting",
  working: "working",
  starting: "working",
  idle: "idle",
  exited: "ended",
};

function groupOf(session: HostSession, waiting: ReadonlySet<string>): Group {
  const { deviceId, entry } = session;
  if (!session.online) return "offline";
  return waiting.has(sessionKey({ deviceId, session: entry.name })) ? "waiting" : GROUP_OF[entry.state];
}

/** The nonempty groups: sessions that wait for the user first, those of offline hosts last. */
export function groupSessions(
  devices: readonly DeviceSessions[],
  /** Sessions that wait although their state does not say so, by `sessionKey`. */
  waiting: ReadonlySet<string> = new Set(),
): { group: Group; sessions: HostSession[] }[] {
  const all = allSessions(devices);
  return GROUPS
    .map((group) => ({
      group,
      sessions: all.filter((session) => groupOf(session, waiting) === group).sort(byUrgency),
    }))
    .filter(({ sessions }) => sessions.length > 0);
}

/** The sessions of each host, the most urgent first; online hosts come first. A host without sessions is listed, too. */
export function groupByHost(
  devices: readonly DeviceSessions[],
  waiting: ReadonlySet<string> = new Set(),
): { device: DeviceSessions; sessions: HostSession[] }[] {
  const urgency = (session: HostSession): number => GROUPS.indexOf(groupOf(session, waiting));
  return devices
    .toSorted((one, other) => Number(other.online) - Number(one.online) || one.host.localeCompare(other.host))
    .map((device) => ({
      device,
      sessions: sessionsOf(device).sort((one, other) =>
        urgency(one) - urgency(other) || byUrgency(one, other)
      ),
    }));
}

/** The list can be searched from this many sessions on. */
export const SEARCHED_FROM = 8;

/** The hosts with the sessions that contain every word of the query; case and diacritics do not matter. */
export function searchSessions(devices: readonly DeviceSessions[], query: string): DeviceSessions[] {
  const words = plainText(query).split(/\s+/).filter((word) => word !== "");
  return devices.map((device) => ({
    ...device,
    sessions: device.sessions.filter(({ name, project, label, agentLabel, title }) => {
      const text = plainText([name, project, label, agentLabel, title, device.host].join(" "));
      return words.every((word) => text.includes(word));
    }),
  }));
}

function plainText(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ß", "ss");
}

/** When removed hosts were last online, by device id. */
export type RemovedHosts = Readonly<Record<string, number>>;

/** The hosts, except those that were removed and have not been online since. */
export function keptHosts(devices: readonly DeviceSessions[], removed: RemovedHosts): DeviceSessions[] {
  return devices.filter(({ deviceId, online, lastSeen }) =>
    online || lastSeen > (removed[deviceId] ?? -Infinity)
  );
}

export function withRemoved(removed: RemovedHosts, { deviceId, lastSeen }: DeviceSessions): RemovedHosts {
  return { ...removed, [deviceId]: lastSeen };
}

export function findSession(
  devices: readonly DeviceSessions[],
  name: { deviceId: string; session: string },
): HostSession | undefined {
  return allSessions(devices).find(({ deviceId, entry }) =>
    deviceId === name.deviceId && entry.name === name.session
  );
}

/** The title that the program set; empty if it is the host's name, which is tmux's default title. */
export function screenTitle({ entry: { title }, host }: HostSession): string {
  return title === host ? "" : title;
}

export function allSessions(devices: readonly DeviceSessions[]): HostSession[] {
  return devices.flatMap(sessionsOf);
}

function sessionsOf({ deviceId, host, online, lastSeen, sessions }: DeviceSessions): HostSession[] {
  return sessions.map((entry) => ({ deviceId, host, online, lastSeen, entry }));
}

/** Ended sessions last, then the most recently changed first, then by name. */
function byUrgency(one: HostSession, other: HostSession): number {
  const ended = Number(one.entry.state === "exited") - Number(other.entry.state === "exited");
  return ended || other.entry.stateSince - one.entry.stateSince ||
    one.entry.name.localeCompare(other.entry.name);
}

/**
 * Replaces what the relay reports about a paired host with what is proven. For an unpaired one, `host` is undefined.
 */
export function trustedSessions(
  device: DeviceSessions,
  host: Pick<PairedHost, "host"> | undefined,
): DeviceSessions {
  if (host === undefined) return device;
  const sessions = device.sessions.map(trustedEntry)
    // The host's own name is tmux's default title; on this phone the host may have another one.
    .map((entry) => entry.title === device.host ? { ...entry, title: "" } : entry);
  return { ...device, host: host.host, sessions };
}

/** The relay's answer to a request for the sessions. */
export interface ListedSessions {
  devices: readonly DeviceSessions[];
  /** The hosts that have reported in the meantime, by device id. */
  heard?: ReadonlySet<string>;
}

/** Merges an answer over HTTP, which may be older than what arrived live in the meantime. */
export function withListed(
  known: readonly DeviceSessions[],
  { devices, heard = new Set() }: ListedSessions,
): readonly DeviceSessions[] {
  const later = devices.map((fetched) => {
    const { deviceId, lastSeen } = fetched;
    const live = known.find((one) => one.deviceId === deviceId);
    // A host that went offline was last seen when it was still online.
    const isLater = live && (live.lastSeen > lastSeen || (live.lastSeen === lastSeen && heard.has(deviceId)));
    return isLater ? live : fetched;
  });
  const isMissing = ({ deviceId }: DeviceSessions): boolean =>
    heard.has(deviceId) && !devices.some((one) => one.deviceId === deviceId);
  return [...later, ...known.filter(isMissing)];
}

export function withDevice(
  devices: readonly DeviceSessions[],
  device: DeviceSessions,
): readonly DeviceSessions[] {
  const known = devices.some(({ deviceId }) => deviceId === device.deviceId);
  if (!known) return [...devices, device];
  return devices.map((old) => old.deviceId === device.deviceId ? device : old);
}

/** Keeps the newest details: they may be opened in a different order than they arrived. */
export function withDetails(
  known: ReadonlyMap<string, HostDetails>,
  { deviceId, details }: { deviceId: string; details: HostDetails },
): ReadonlyMap<string, HostDetails> {
  if (details.at <= (known.get(deviceId)?.at ?? -1)) return known;
  return new Map(known).set(deviceId, details);
}

/** Derives the label from the name: a forged label could make the user seal a message for the wrong session. */
function trustedEntry(entry: SessionEntry): SessionEntry {
  const { name, project, agentLabel, ordinal } = entry;
  const isNamed = sessionName(project, ordinal) === name;
  return {
    ...entry,
    label: isNamed && agentLabel !== "" ? sessionLabel(project, agentLabel, ordinal) : name,
  };
}
