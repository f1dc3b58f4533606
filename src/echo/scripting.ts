/** How scripts and tests drive the echo agent: a control socket for events, and a transcript of what it received. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import type { AppendFile, Files, LineConnection, LocalSockets } from "../runtime/types.ts";
import type { EchoEvent } from "./state.ts";

/** The file in which scripts and tests read back, byte for byte, what the echo agent was given. */

/** One JSON object per line; each gets an answer. */
export const EchoControl = z.discriminatedUnion("op", [
  z.object({ op: z.literal("permit") }),
  z.object({ op: z.literal("work"), seconds: z.number().check(z.positive()) }),
  /** Denies the open dialog, like Esc. */
  z.object({ op: z.literal("deny") }),
]);
export type EchoControl = z.infer<typeof EchoControl>;

/** Each answer is sent once the event has been drawn. */
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

/** One line of the transcript. `at` is in epoch milliseconds. */
export const TranscriptEntry = z.union([
  z.object({
    at: z.number(),
    prompt: z.string(),
    bytes: z.number(),
    /** Hex, over the prompt's UTF-8. */
    sha256: z.string(),
    /** An injection's marker matched it. */
    fromPhone: z.boolean(),
  }),
  z.object({ at: z.number(), command: z.string() }),
  z.object({ at: z.number(), approved: z.boolean(), by: z.enum(["enter", "escape", "digit"]) }),
  /** Text typed or pasted into an open dialog. */
  z.object({ at: z.number(), dialogInput: z.string() }),
]);
export type TranscriptEntry = z.infer<typeof TranscriptEntry>;

export interface Transcript {
  append(entry: TranscriptEntry): Promise<void>;
  close(): void;
}

/** Without a path, nothing is written. */
export async function openTranscript(files: Files, path: string | undefined): Promise<Transcript> {
  const file: AppendFile | undefined = path ? await files.openAppend(path, { mode: 0o600 }) : undefined;
  return {
    append: async (entry) => await file?.append(`${JSON.stringify(entry)}\n`),
    close: () => file?.close(),
  };
}
