/** Prints the sessions whenever they change. */
import { runtime } from "#runtime";
import { delay, systemClock } from "../../async/clock.ts";
import type { RelayApi } from "../../client/api.ts";
import { RelayError } from "../../client/relay_error.ts";
import { print } from "../output.ts";
import { type ListedEntry, listEntries, sessionTable } from "../sessions.ts";

const POLL_MS = 1_000;

/** What was printed of each session, in the table's order. */
export type Shown = readonly { session: string; look: string }[];

/** Prints what changed of the sessions, until the signal fires. */
export async function watchSessions(api: RelayApi, signal: AbortSignal): Promise<void> {
  let shown: Shown | undefined;
  while (!signal.aborted) {
    const entries = await readEntries(api, signal);
    if (entries !== undefined) {
      const lines = changedLines(entries, shown, Date.now());
      if (lines.length > 0) print(lines.join("\n"));
      shown = shownOf(entries);
    }
    await delay(POLL_MS, { clock: systemClock, signal }).catch(() => {});
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
  api: RelayApi,
  signal: AbortSignal,
): Promise<ReturnType<typeof listEntries> | undefined> {
  try {
    return listEntries((await api.sessions({ signal })).devices);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!(error instanceof RelayError)) throw error;
    runtime.terminal.writeError(`svc: ${error.message}\n`);
    return undefined;
  }
}
