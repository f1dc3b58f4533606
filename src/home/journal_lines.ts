/** The journal's lines: `{"sum", "entry"}`, where `sum` is the checksum of the entry's JSON. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import { PushId } from "../protocol/push.ts";
import { PushState } from "../protocol/receipt.ts";
import { checksum } from "./checksum.ts";

/** Which pairing a message was sealed under, and its counter; versions that did not count wrote `true`. */
export const PhoneSeal = z.object({
  /** `pairingId` of the secret. */
  pairing: z.string().check(z.maxLength(100)),
  counter: z.optional(z.int().check(z.minimum(1))),
});
export type PhoneSeal = z.infer<typeof PhoneSeal>;

const fields = {
  id: PushId,
  at: z.number(),
  /** A paired phone sealed it: nobody else can make such pushes, so none of them crowds another one out. */
  sealed: z.optional(z.union([z.literal(true), PhoneSeal])),
  /** Refused without being opened, and the phone has the host's proof of that: no other push crowds it out either. */
  promised: z.optional(z.literal(true)),
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

/** Which counters of one pairing were taken, as far as the pushes beside it do not say so themselves. */
export const WindowEntry = z.object({
  step: z.literal("window"),
  pairing: z.string(),
  top: z.number(),
  bits: z.string(),
});
export type WindowEntry = z.infer<typeof WindowEntry>;

const AnyEntry = z.discriminatedUnion("step", [...JournalEntry.def.options, WindowEntry]);
type AnyEntry = z.infer<typeof AnyEntry>;

const Line = z.object({ sum: z.string(), entry: z.unknown() });

export function encodeEntry(entry: JournalEntry | WindowEntry): string {
  return `${JSON.stringify({ sum: checksum(JSON.stringify(entry)), entry })}\n`;
}

/** The sound entries in their order, and how many lines were not sound. */
export function decodeEntries(
  text: string,
): { entries: JournalEntry[]; windows: WindowEntry[]; damaged: number } {
  const lines = text.split("\n").filter((line) => line !== "");
  const found = lines.flatMap((line) => decodeLine(line) ?? []);
  return {
    entries: found.filter((entry) => entry.step !== "window"),
    windows: found.filter((entry) => entry.step === "window"),
    damaged: lines.length - found.length,
  };
}

function decodeLine(text: string): AnyEntry | undefined {
  const line = Line.safeParse(parseJson(text)?.value);
  if (!line.success || checksum(JSON.stringify(line.data.entry)) !== line.data.sum) return undefined;
  const entry = AnyEntry.safeParse(line.data.entry);
  return entry.success ? entry.data : undefined;
}
