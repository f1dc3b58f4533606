/** `svc sessions`: the account's sessions as a table, which `svc status` and `svc up` print too. */
import type { DeviceSessions, SessionEntry } from "../protocol/session.ts";
import { defineCommand, parseOptions } from "./command.ts";
import { accountPaths } from "./context.ts";
import { columns, duration, paint, print, printJson } from "./output.ts";
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

function row(entry: ListedEntry, now: number): string[] {
  const host = entry.online ? entry.host : `${entry.host} (last seen ${duration(now - entry.lastSeen)} ago)`;
  const state = entry.muted ? `${entry.state}, muted` : entry.state;
  const terminal = entry.attached ? "attached" : "-";
  return [entry.name, entry.label, state, duration(now - entry.stateSince), terminal, host];
}
