/** Reports to the listener what an agent's hooks would: in order, bounded, and without blocking the agent. */
import { Mutex } from "../async/mutex.ts";
import { askDaemon, type HookReport } from "../home/control_socket.ts";
import type { LocalSockets } from "../runtime/types.ts";

/** How long to wait for the daemon to answer a report. */
const REPORT_TIMEOUT_MS = 150;
/** Reports beyond this many are dropped: the screen shows the same state. */
export const REPORTS_MAX = 20;
/** How long a dialog waits for input in flight, as an agent's hook does. */
const GATE_TIMEOUT_MS = 5_000;

interface ReportOptions {
  sockets: Pick<LocalSockets, "connect">;
  /** The listener's control socket. */
  path: string;
  /** Included in every report. */
  where: { agent: string; cwd: string; session?: string; pane?: string };
}

export interface Reporter {
  report(event: string): void;
  /** Call this before a dialog opens: resolves once no input is in flight, or if no listener answers. */
  gate(): Promise<void>;
}

export function makeReporter({ sockets, path, where }: ReportOptions): Reporter {
  const queue = new Mutex();
  const send = async (event: string): Promise<void> => {
    const request = { op: "hook" as const, report: { ...where, event, ...EVENT_FIELDS[event], gates: true } };
    await askDaemon({ sockets, path }, request, { timeoutMs: REPORT_TIMEOUT_MS });
  };
  const report = (event: string): void => {
    if (queue.size < REPORTS_MAX) void queue.run(() => send(event)).catch(() => {});
  };
  const gate = async (): Promise<void> => {
    const tool = { step: "before" as const };
    const request = { op: "gate" as const, report: { ...where, event: "PreToolUse", tool, gates: true } };
    await askDaemon({ sockets, path }, request, { timeoutMs: GATE_TIMEOUT_MS }).catch(() => undefined);
  };
  return { report, gate };
}

/** Fields reported with each event. */
const EVENT_FIELDS: Readonly<Record<string, Partial<HookReport>>> = {
  SessionStart: { state: "idle" },
  UserPromptSubmit: { state: "working" },
  PermissionRequest: { state: "waiting" },
  PostToolUse: { tool: { step: "after" } },
  Stop: { state: "idle" },
};
