/** Tells the listener what an agent's hooks would: in order, bounded, and without keeping the agent waiting. */
import { askDaemon } from "../home/control_client.ts";
import type { LocalSockets } from "../runtime/types.ts";

/** A daemon that does not answer is given up after this time. */
export const REPORT_TIMEOUT_MS = 150;
/** Reports beyond it are dropped: the screen tells the same. */
export const REPORTS_MAX = 20;

export interface ReportOptions {
  sockets: Pick<LocalSockets, "connect">;
  /** The listener's control socket. */
  path: string;
  /** What every report says of its agent. */
  where: { agent: string; cwd: string; session?: string };
}

export function makeReporter({ sockets, path, where }: ReportOptions): (event: string) => void {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  const send = async (event: string): Promise<void> => {
    const request = { op: "hook" as const, report: { ...where, event } };
    await askDaemon({ sockets, path }, request, { timeoutMs: REPORT_TIMEOUT_MS });
  };
  return (event) => {
    if (waiting >= REPORTS_MAX) return;
    waiting += 1;
    last = last.then(() => send(event)).catch(() => {}).finally(() => waiting -= 1);
  };
}
