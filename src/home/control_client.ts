/** Sends the daemon one request over its control socket and reads the answer. */
import { parseJson } from "../protocol/json.ts";
import type { LineConnection, LocalSockets } from "../runtime/types.ts";
import { ControlAnswer, type ControlRequest } from "./control_messages.ts";

export interface AskOptions {
  /** How long the whole exchange may take, in milliseconds. */
  timeoutMs: number;
}

/** The answer; undefined when no daemon listens or answers in time. */
export async function askDaemon(
  socket: { sockets: Pick<LocalSockets, "connect">; path: string },
  request: ControlRequest,
  options: AskOptions,
): Promise<ControlAnswer | undefined> {
  const connection = await socket.sockets.connect(socket.path);
  if (connection === undefined) return undefined;
  const timer = setTimeout(() => connection.close(), options.timeoutMs);
  try {
    return await exchange(connection, request);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    connection.close();
  }
}

async function exchange(
  connection: LineConnection,
  request: ControlRequest,
): Promise<ControlAnswer | undefined> {
  await connection.send(JSON.stringify(request));
  for await (const line of connection.lines) {
    const answer = ControlAnswer.safeParse(parseJson(line)?.value);
    return answer.success ? answer.data : undefined;
  }
  return undefined;
}
