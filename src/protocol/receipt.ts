/** A push's id and its receipt: the states, and what a phone sees live. */
import * as z from "zod/mini";
import { maxLength } from "./lengths.ts";
import { REASONS } from "./reasons.ts";

/** Chosen by the sender and used as the idempotency key. */
export const PushId = z.string().check(
  z.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, "a lower-case UUID"),
);

export const PUSH_STATES = [
  "queued",
  "delivered",
  "held",
  "typed",
  "submitted",
  "refused",
  "expired",
  "unknown",
  "ignored",
  "answered",
  "withdrawn",
] as const;
export const PushState = z.enum(PUSH_STATES);
export type PushState = z.infer<typeof PushState>;

/** The reasons and their sentences are in `REASONS`. */
export const Reason = z.enum(Object.keys(REASONS) as [keyof typeof REASONS, ...(keyof typeof REASONS)[]]);
export type Reason = z.infer<typeof Reason>;

export const ReceiptProof = z.string().check(maxLength(100));

/** Phones whose reports one receipt holds. */
export const SHOWN_PHONES_MAX = 50;

/** What a phone was shown of a push to phones: epoch milliseconds by the relay's clock. */
export const Shown = z.object({
  /** The browser's vendor accepted the Web Push message. */
  sent: z.optional(z.number()),
  /** The phone's service worker showed the notification. */
  notified: z.optional(z.number()),
  /** The user tapped it, or the page showed the push while it was visible. */
  seen: z.optional(z.number()),
});
export type Shown = z.infer<typeof Shown>;

/** `at` holds the epoch milliseconds at which each state was first reached. */
export const Receipt = z.object({
  state: PushState,
  reason: z.optional(z.string()),
  /** With `rate_limited`: whole seconds until the next message is taken. */
  retryAfterSeconds: z.optional(z.number()),
  /** With `submitted` of an `agent.start`: the session that the agent runs in. */
  agentSessionName: z.optional(z.string()),
  /** True once the state can no longer change. */
  final: z.boolean(),
  at: z.partialRecord(PushState, z.number()),
  /** The host's proof, for a paired phone, that the state comes from the host. */
  proof: z.optional(ReceiptProof),
  /** With `answered`: the id of the answer. */
  answer: z.optional(PushId),
  /** By the phone's device id. Reported by the relay: no proof covers it. */
  shown: z.optional(z.record(z.string(), Shown)),
});
export type Receipt = z.infer<typeof Receipt>;
