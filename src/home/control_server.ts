/** The daemon's end of the control socket: parses and answers each request. */
import { describeFaults } from "../protocol/faults.ts";
import { parseJson } from "../protocol/json.ts";
import type { LineConnection, LocalSockets } from "../runtime/types.ts";
import {
  type ControlAnswer,
  ControlRequest,
  type DaemonStatus,
  type HookReport,
} from "./control_messages.ts";

export interface ControlHandlers {
  status(): DaemonStatus;
  /** Starts to stop and returns at once; called after the answer was sent. */
  stop(): void;
  hook(report: HookReport): void;
  /** Resolves once the tool call may begin. */
  gate(report: HookReport): Promise<void>;
  look(): void;
  forget(phone: string): void;
}

/** Further connections are closed at once. */
export const CONTROL_CONNECTIONS_MAX = 64;
/** A connection without a request for this long is closed. */
export const CONTROL_IDLE_MS = 10_000;

/** Binds `path` (0600) and serves it until closed. Throws with code `EADDRINUSE` when the path exists. */
export async function serveControl(
  sockets: Pick<LocalSockets, "listen">,
  path: string,
  handlers: ControlHandlers,
): Promise<{ close(): void }> {
  const open = new Set<LineConnection>();
  return await sockets.listen(path, (connection) => {
    if (open.size >= CONTROL_CONNECTIONS_MAX) return connection.close();
    open.add(connection);
    serveConnection(connection, handlers).finally(() => open.delete(connection));
  });
}

/** A client that disconnects or sends an overlong line ends only its own connection. */
async function serveConnection(connection: LineConnection, handlers: ControlHandlers): Promise<void> {
  let idle = setTimeout(() => connection.close(), CONTROL_IDLE_MS);
  try {
    for await (const line of connection.lines) {
      clearTimeout(idle);
      const { answer, after } = await takeLine(line, handlers);
      await connection.send(JSON.stringify(answer));
      after?.();
      idle = setTimeout(() => connection.close(), CONTROL_IDLE_MS);
    }
  } catch {
    connection.close();
  } finally {
    clearTimeout(idle);
  }
}

/** An answer, and what to do after it is sent. */
interface Reply {
  answer: ControlAnswer;
  after?: () => void;
}

async function takeLine(line: string, handlers: ControlHandlers): Promise<Reply> {
  const request = ControlRequest.safeParse(parseJson(line)?.value);
  if (request.success) return await take(request.data, handlers);
  return { answer: { ok: false, error: `Cannot take the request: ${describeFaults(request.error)}` } };
}

async function take(request: ControlRequest, handlers: ControlHandlers): Promise<Reply> {
  switch (request.op) {
    case "status":
      return { answer: { ok: true, status: handlers.status() } };
    case "stop":
      return { answer: { ok: true }, after: () => handlers.stop() };
    case "hook":
      handlers.hook(request.report);
      return { answer: { ok: true } };
    case "gate":
      await handlers.gate(request.report);
      return { answer: { ok: true } };
    case "look":
      handlers.look();
      return { answer: { ok: true } };
    case "forget":
      handlers.forget(request.phone);
      return { answer: { ok: true } };
  }
}
