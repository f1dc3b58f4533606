/** The journal's lines: `{"sum", "entry"}`, where `sum` is the checksum of the entry's JSON. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import { PushId } from "../protocol/push.ts";
import { PushState } from "../protocol/receipt.ts";
import { checksum } from "./checksum.ts";

const fields = {
  id: PushId,
  at: z.number(),
  /** A paired phone sealed it: nobody else can make such pushes, so none of them crowds another one out. */
  sealed: z.optional(z.literal(true)),
};

/** A step of one push, `at` epoch milliseconds. */
export const JournalEntry = z.discriminatedUnion("step", [
  /** Taken on; nothing was typed. */
  z.object({ ...fields, step: z.literal("accepted") }),
  /** From here on the text may be in the pane. */
  z.object({ ...fields, step: z.literal("typing") }),
  /** The text is in the pane; whether Enter was sent is not known. */
  z.object({ ...fields, step: z.literal("typed") }),
  /** Answered; nothing more will happen. */
  z.object({
    ...fields,
    step: z.literal("done"),
    outcome: PushState,
    reason: z.optional(z.string()),
    retryAfterSeconds: z.optional(z.number()),
    agentSessionName: z.optional(z.string()),
  }),
]);
export type JournalEntry = z.infer<typeof JournalEntry>;

const Line = z.object({ sum: z.string(), entry: z.unknown() });

export function encodeEntry(entry: JournalEntry): string {
  return `${JSON.stringify({ sum: checksum(JSON.stringify(entry)), entry })}\n`;
}

/** The sound entries in their order, and how many lines were not sound. */
export function decodeEntries(text: string): { entries: JournalEntry[]; damaged: number } {
  const lines = text.split("\n").filter((line) => line !== "");
  const entries = lines.flatMap((line) => decodeLine(line) ?? []);
  return { entries, damaged: lines.length - entries.length };
}

function decodeLine(text: string): JournalEntry | undefined {
  const line = Line.safeParse(parseJson(text)?.value);
  if (!line.success || checksum(JSON.stringify(line.data.entry)) !== line.data.sum) return undefined;
  const entry = JournalEntry.safeParse(line.data.entry);
  return entry.success ? entry.data : undefined;
}
