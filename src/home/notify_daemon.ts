/** Sends a hook's reports, tool calls and dialogs to the daemon, and finds the hook's own pane. Loads no schema. */
import type { DialogAnswer, DialogCall } from "../agents/hooks.ts";
import { utf8Length } from "../async/encodings.ts";
import { MAX_LINE_BYTES } from "../runtime/input.ts";
import type { Files, LineConnection, LocalSockets } from "../runtime/types.ts";
import type { ControlRequest, HookReport } from "./control_socket.ts";

/**
 * How long a tool call waits for the listener, in milliseconds. The agent's own limit for the hook is longer, so this one
 * applies first.
 */
export const GATE_LIMIT_MS = 5_000;

/** The event in reports of `svc mcp`: the agent waits for its user's answer, or has stopped waiting. */
export const ASK_EVENT = "svc_ask";
/** How often `svc mcp` repeats its report while a question is open, in milliseconds. */
export const ASK_REPORT_MS = 4_000;

export interface DaemonSocket {
  sockets: Pick<LocalSockets, "connect">;
  path: string;
}

/** False when no daemon listens, or the line could not be sent. */
export async function notifyDaemon(socket: DaemonSocket, request: ControlRequest): Promise<boolean> {
  const sent = await withDaemon(socket, async (connection) => {
    await connection.send(JSON.stringify(request));
    return true;
  });
  return sent ?? false;
}

/** Resolves when the listener lets the tool call begin, at the limit, or at once when no daemon listens. */
export async function waitAtGate(
  socket: DaemonSocket,
  report: HookReport,
  { limitMs = GATE_LIMIT_MS }: { limitMs?: number } = {},
): Promise<void> {
  const requests = gateRequests(report);
  await withDaemon(socket, async (connection) => {
    // `setTimeout` would cost Deno more than the rest of a hook.
    const limit = AbortSignal.timeout(limitMs);
    const close = (): void => connection.close();
    limit.addEventListener("abort", close);
    try {
      await connection.send(requests.map((request) => JSON.stringify(request)).join("\n"));
      await takeAnswers(connection, requests.length);
    } finally {
      limit.removeEventListener("abort", close);
    }
  });
}

/** How long a hook waits for the phone, in milliseconds. The agents' own limit for the hook is longer. */
export const DIALOG_LIMIT_MS = 590_000;

/** While a hook waits: how often it checks that the listener still responds, and how long that may take, in milliseconds. */
export const ALIVE_EVERY_MS = 15_000;

/**
 * Resolves with the phone's answer; undefined when the agent should ask at the computer, also when no daemon listens or
 * a hung one does not respond within `aliveMs`, or within `everyMs` later on: some agents show no dialog before this
 * ends.
 */
export async function askPhones(
  socket: DaemonSocket,
  { report, call }: { report: HookReport; call: DialogCall },
  { aliveMs = GATE_LIMIT_MS, everyMs = ALIVE_EVERY_MS }: { aliveMs?: number; everyMs?: number } = {},
): Promise<DialogAnswer | undefined> {
  const line = JSON.stringify({ op: "dialog", report, call });
  // The listener would drop the connection; either way the dialog opens at the computer.
  if (utf8Length(line) > MAX_LINE_BYTES) return undefined;
  return await withDaemon(socket, async (connection) => {
    let isAlive = false;
    AbortSignal.timeout(aliveMs).addEventListener("abort", () => isAlive || connection.close());
    AbortSignal.timeout(DIALOG_LIMIT_MS).addEventListener("abort", () => connection.close());
    const end = new AbortController();
    try {
      await connection.send(`${STATUS}\n${line}`);
      for await (const answer of connection.lines) {
        if (isAlive) return JSON.parse(answer).answer;
        isAlive = true;
        void closeOnceHung(socket, { connection, everyMs, ended: end.signal });
      }
    } finally {
      end.abort();
    }
  });
}

const STATUS = JSON.stringify({ op: "status" });

/** Closes the connection once the daemon does not respond for `everyMs`. One connection answers one request at a time. */
async function closeOnceHung(
  socket: DaemonSocket,
  { connection, everyMs, ended }: { connection: LineConnection; everyMs: number; ended: AbortSignal },
): Promise<void> {
  while (!ended.aborted) {
    await fired(AbortSignal.any([AbortSignal.timeout(everyMs), ended]));
    const limit = AbortSignal.any([AbortSignal.timeout(everyMs), ended]);
    if (!ended.aborted) await Promise.race([fired(limit), respond(socket, limit)]);
    if (limit.aborted) return connection.close();
  }
}

/** Resolves once the daemon has responded, or has closed the connection. */
async function respond(socket: DaemonSocket, limit: AbortSignal): Promise<void> {
  await withDaemon(socket, async (connection) => {
    if (limit.aborted) return;
    limit.addEventListener("abort", () => connection.close(), { once: true });
    await connection.send(STATUS);
    await takeAnswers(connection, 1);
  });
}

async function fired(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** Notifications do not wait at the gate: they go in a separate request. */
function gateRequests({ news, ...report }: HookReport): ControlRequest[] {
  const gate = { op: "gate", report } as const;
  if (news === undefined) return [gate];
  const { tool: _step, ...rest } = report;
  return [{ op: "hook", report: { ...rest, news } }, gate];
}

async function takeAnswers({ lines }: LineConnection, count: number): Promise<void> {
  let left = count;
  for await (const _answer of lines) if (--left === 0) return;
}

/** Undefined when no daemon listens, or the connection broke. */
async function withDaemon<T>(
  { sockets, path }: DaemonSocket,
  work: (connection: LineConnection) => Promise<T>,
): Promise<T | undefined> {
  try {
    const connection = await sockets.connect(path);
    if (connection === undefined) return undefined;
    try {
      return await work(connection);
    } finally {
      connection.close();
    }
  } catch {
    return undefined;
  }
}

/** The tmux pane in which this process runs. */
export interface OwnPane {
  /** `%<n>`; undefined outside tmux. */
  pane: string | undefined;
  /** The resolved path of its tmux server's socket: pane ids repeat on other servers. */
  socket: string | undefined;
}

interface PaneHost {
  env: { get(name: string): string | undefined };
  files: Pick<Files, "realPath">;
}

/** Reads the variables that tmux sets in its panes. A socket that cannot be resolved, and so compared, is left out. */
export async function ownPane({ env, files }: PaneHost): Promise<OwnPane> {
  const [pane] = /^%\d{1,9}$/.exec(env.get("TMUX_PANE") ?? "") ?? [];
  // `<socket>,<pid of the server>,<number of the session>`
  const [, path] = /^(\/.+),\d+,-?\d+$/.exec(env.get("TMUX") ?? "") ?? [];
  const socket = path === undefined ? undefined : await files.realPath(path).catch(() => undefined);
  return { pane, socket };
}

/** The process id of the tmux server in whose pane this process runs. */
export function ownServer(env: PaneHost["env"]): number | undefined {
  const [, pid] = /^\/.+,(\d+),-?\d+$/.exec(env.get("TMUX") ?? "") ?? [];
  return pid === undefined ? undefined : Number(pid);
}
