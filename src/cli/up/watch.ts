/** Shows the inventory as it changes. */
import { runtime } from "#runtime";
import type { RelayApi } from "../../client/api.ts";
import { RelayError } from "../../client/relay_error.ts";
import { print } from "../output.ts";
import { listEntries, sessionTable } from "../session_table.ts";

const LOOK_MS = 1_000;

/** Runs until the signal fires. Prints the table when a session, a state, or who is at the desk changed. */
export async function watchSessions(api: RelayApi, signal: AbortSignal): Promise<void> {
  let shown: string | undefined;
  while (!signal.aborted) {
    const entries = await readEntries(api, signal);
    const digest = JSON.stringify(
      entries?.map(({ name, state, attached, online }) => [name, state, attached, online]),
    );
    if (entries !== undefined && digest !== shown) {
      shown = digest;
      print(["", ...sessionTable(entries, Date.now())].join("\n"));
    }
    await pause(signal);
  }
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

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, LOOK_MS);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}
