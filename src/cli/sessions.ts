/** `svc sessions`: the account's sessions as a table, also for `svc status` and, whenever they change, `svc up`. */
import { type Clock, delay, systemClock } from "../async/clock.ts";
import type { RelayApi } from "../client/api.ts";
import { RelayError } from "../client/relay_error.ts";
import { AGENT_STATES, type DeviceSessions, type SessionEntry } from "../protocol/session.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { columns, duration, inLine, paint, print, printError, printJson } from "./output.ts";
import { addressInputs, relayApi } from "./settings.ts";

export async function run(args: readonly string[]): Promise<number> {
  const command = defineCommand({
    name: "sessions",
    summary: "List every session of the account, on every host.",
    examples: ["svc sessions", "svc sessions --json"],
  })
    .option("--json", "print the inventory entries as a JSON array")
    .option("--names", "print only the names, one per line");
  const options = parseOptions(command, args).opts();
  const paths = await accountPaths();
  const { devices } = await relayApi(paths, await addressInputs(paths)).sessions();
  const entries = listEntries(devices);
  if (options.json) printJson(entries);
  else if (options.names) { for (const { name } of entries) print(name); }
  else for (const line of sessionTable(entries, Date.now())) print(line);
  return 0;
}

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
  const [head = "", ...lines] = columns([
    ["SESSION", "LABEL", "STATE", "SINCE", "TERMINAL", "HOST"],
    ...rows,
  ]);
  return [
    paint(head, "bold"),
    ...lines.map((line, index) => entries[index]?.online ? line : paint(line, "dim")),
  ];
}

/** Widths of the columns that change while svc up shows the sessions, so that a later row stays below its heading. */
const STATE_WIDTH = Math.max(...AGENT_STATES.map((state) => state.length));
const SINCE_WIDTH = "59 min".length;

function row(entry: ListedEntry, now: number): string[] {
  const host = entry.online ? entry.host : `${entry.host} (last seen ${duration(now - entry.lastSeen)} ago)`;
  const state = (entry.muted ? `${entry.state}, muted` : entry.state).padEnd(STATE_WIDTH);
  const terminal = entry.attached ? "attached" : "-";
  const since = duration(now - entry.stateSince).padEnd(SINCE_WIDTH);
  return [entry.name, entry.label, state, since, terminal, host];
}

const POLL_MS = 1_000;

/** Reads without a session before the first table: a listener that has just connected has not reported any yet. */
const EMPTY_READS = 2;

/** What was printed for each session, in the table's order. */
export type Shown = readonly { session: string; look: string }[];

export interface WatchOptions {
  signal: AbortSignal;
  clock?: Clock;
  write?(text: string): void;
}

/** Prints the sessions' changes until the signal fires. */
export async function watchSessions(
  api: Pick<RelayApi, "sessions">,
  { signal, clock = systemClock, write = print }: WatchOptions,
): Promise<void> {
  let shown: Shown | undefined;
  for (let emptyReads = 0; !signal.aborted;) {
    const entries = await readEntries(api, signal);
    const isEarly = entries?.length === 0 && shown === undefined && emptyReads++ < EMPTY_READS;
    if (entries !== undefined && !isEarly) {
      const lines = changedLines(entries, shown, clock.now());
      if (lines.length > 0) write(lines.join("\n"));
      shown = shownOf(entries);
    }
    await delay(POLL_MS, { clock, signal }).catch(() => {});
  }
}

export function shownOf(entries: readonly ListedEntry[]): Shown {
  return entries.map(({ deviceId, name, state, attached, online, muted }) => ({
    session: `${deviceId} ${name}`,
    look: JSON.stringify([state, attached, online, muted]),
  }));
}

/** The whole table when sessions came or went, else the rows whose state, attachment, host or muting changed. */
export function changedLines(
  entries: readonly ListedEntry[],
  shown: Shown | undefined,
  now: number,
): string[] {
  const table = sessionTable(entries, now);
  const current = shownOf(entries);
  const sessions = (of: Shown | undefined): string | undefined =>
    of?.map(({ session }) => session).join("\n");
  if (sessions(current) !== sessions(shown)) return ["", ...table];
  return table.slice(1).filter((_, index) => current[index]?.look !== shown?.[index]?.look);
}

async function readEntries(
  api: Pick<RelayApi, "sessions">,
  signal: AbortSignal,
): Promise<ReturnType<typeof listEntries> | undefined> {
  try {
    return listEntries((await api.sessions({ signal })).devices);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!(error instanceof RelayError)) throw error;
    printError(inLine(error.message));
    return undefined;
  }
}
