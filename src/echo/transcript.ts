/** The file in which scripts and tests read back, byte for byte, what the echo agent was given. */
import * as z from "zod/mini";
import type { AppendFile, Files } from "../runtime/types.ts";

/** One line of the file. `at` is in epoch milliseconds. */
export const TranscriptEntry = z.union([
  z.object({
    at: z.number(),
    prompt: z.string(),
    bytes: z.number(),
    /** Hex, over the prompt's UTF-8. */
    sha256: z.string(),
    /** An injection's marker was there for it. */
    fromPhone: z.boolean(),
  }),
  z.object({ at: z.number(), command: z.string() }),
  z.object({ at: z.number(), approved: z.boolean(), by: z.enum(["enter", "escape", "digit"]) }),
  /** Text that went into an open dialog. */
  z.object({ at: z.number(), dialogInput: z.string() }),
]);
export type TranscriptEntry = z.infer<typeof TranscriptEntry>;

export interface Transcript {
  append(entry: TranscriptEntry): Promise<void>;
  close(): void;
}

/** Without a path nothing is written. */
export async function openTranscript(files: Files, path: string | undefined): Promise<Transcript> {
  const file: AppendFile | undefined = path ? await files.openAppend(path, { mode: 0o600 }) : undefined;
  return {
    append: async (entry) => await file?.append(`${JSON.stringify(entry)}\n`),
    close: () => file?.close(),
  };
}
