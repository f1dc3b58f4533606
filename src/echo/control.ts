/** A control socket for tests: opens the dialog, or starts work, at an exact moment. One JSON object a line, an answer for each. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import type { LineConnection, LocalSockets } from "../runtime/types.ts";
import type { EchoEvent } from "./state.ts";

export const EchoControl = z.discriminatedUnion("op", [
  z.object({ op: z.literal("permit") }),
  z.object({ op: z.literal("work"), seconds: z.number().check(z.positive()) }),
  /** Denies the open dialog, as Esc does. */
  z.object({ op: z.literal("deny") }),
]);
export type EchoControl = z.infer<typeof EchoControl>;

/** The answer is sent when the event has been drawn. */
export async function openControl(
  sockets: Pick<LocalSockets, "listen">,
  control: { path: string; dispatch: (event: EchoEvent) => Promise<void> },
): Promise<{ close(): void }> {
  return await sockets.listen(control.path, (connection) => void serve(connection, control.dispatch));
}

async function serve(
  connection: LineConnection,
  dispatch: (event: EchoEvent) => Promise<void>,
): Promise<void> {
  for await (const line of connection.lines) {
    const request = EchoControl.safeParse(parseJson(line)?.value);
    if (request.success) await dispatch(eventOf(request.data));
    await connection.send(JSON.stringify({ ok: request.success })).catch(() => connection.close());
  }
}

function eventOf(request: EchoControl): EchoEvent {
  switch (request.op) {
    case "permit":
      return { kind: "permit" };
    case "work":
      return { kind: "work", seconds: request.seconds };
    case "deny":
      return { kind: "escape" };
  }
}
