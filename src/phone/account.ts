/** Who this phone is to the relay, and what of it is kept on the phone. */
import * as z from "zod/mini";
import { AnswerData } from "../protocol/ask.ts";
import { DeviceId, PushId } from "../protocol/push.ts";

export const Account = z.object({
  apiKey: z.string(),
  /** Given by the relay: at pairing, or with the first welcome. */
  deviceId: z.optional(DeviceId),
});
export type Account = z.infer<typeof Account>;

/** How a person tells one account from another: by what is short, and is no secret. */
export function accountName({ apiKey, deviceId }: Account): string {
  const key = `key ${apiKey.slice(0, KEY_SHOWN_CHARS)}…`;
  return deviceId === undefined ? key : `${deviceId} (${key})`;
}

/** The prefix and 24 bits of the key. */
const KEY_SHOWN_CHARS = 8;

/** A message that the relay has not taken yet, as the phone keeps it over a reload. */
export const OutboxEntry = z.object({
  id: PushId,
  deviceId: z.string(),
  session: z.string(),
  body: z.string(),
  createdAt: z.number(),
  sendAnyway: z.optional(z.boolean()),
  /** For an answer: the question, the answer where it is no text, and the host where it must be sealed. */
  answers: z.optional(z.object({
    question: PushId,
    data: z.optional(AnswerData),
    sealTo: z.optional(z.object({ deviceId: z.string(), session: z.string() })),
  })),
});
export type OutboxEntry = z.infer<typeof OutboxEntry>;
