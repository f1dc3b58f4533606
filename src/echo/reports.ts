/** Reports to the listener what an agent's hooks would: in order, bounded, and without keeping the agent waiting. */
import { askDaemon } from "../home/control_client.ts";
import type { HookReport } from "../home/control_messages.ts";
import type { LocalSockets } from "../runtime/types.ts";

/** A daemon that does not answer is given up after this time. */
export const REPORT_TIMEOUT_MS = 150;
/** Reports beyond it are dropped: the screen tells the same. */
export const REPORTS_MAX = 20;
/** How long the dialog waits for an input in flight, as an agent's hook does. */
export const GATE_TIMEOUT_MS = 5_000;

export interface ReportOptions {
  sockets: Pick<LocalSockets, "connect">;
  /** The listener's control socket. */
  path: string;
  /** What every report says of its agent. */
  where: { agent: string; cwd: string; session?: string; pane?: string };
}

export interface Reporter {
  report(event: string): void;
  /** A dialog is about to open: resolves once no input is in flight, or nobody listens. */
  gate(): Promise<void>;
}

export function makeReporter({ sockets, path, where }: ReportOptions): Reporter {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  const send = async (event: string): Promise<void> => {
    const request = { op: "hook" as const, report: { ...where, event, ...GATES[event], gates: true } };
    await askDaemon({ sockets, path }, request, { timeoutMs: REPORT_TIMEOUT_MS });
  };
  const report = (event: string): void => {
    if (waiting >= REPORTS_MAX) return;
    waiting += 1;
    last = last.then(() => send(event)).catch(() => {}).finally(() => waiting -= 1);
  };
  const gate = async (): Promise<void> => {
    const tool = { step: "before" as const };
    const request = { op: "gate" as const, report: { ...where, event: "PreToolUse", tool, gates: true } };
    await askDaemon({ sockets, path }, request, { timeoutMs: GATE_TIMEOUT_MS }).catch(() => undefined);
  };
  return { report, gate };
}

/** What an event says beside its name. */
const GATES: Readonly<Record<string, Partial<HookReport>>> = {
  SessionStart: { state: "idle" },
  UserPromptSubmit: { state: "working" },
  PermissionRequest: { state: "waiting" },
  PostToolUse: { tool: { step: "after" } },
  Stop: { state: "idle" },
};
