/** Limits the length of a document in NATS, which is one message: a change that makes it too long is refused, and a revocation makes room for itself. */
import { utf8Length } from "../async/encodings.ts";
import { StoreUnavailable } from "./store.ts";

/**
 * The share of the longest message that a document may grow to. The rest is for revocations, which mark every key and
 * device.
 */
const GROWTH_SHARE = 0.75;
/** The same for a revocation: the rest is for the message's headers. */
const REVOCATION_SHARE = 0.99;

export interface Decision<V> {
  work(value: V): unknown;
  /** Stored whatever the document's length. */
  isUrgent: boolean;
}

export type Outcome = { result: unknown } | { error: unknown };

export interface Room<V> {
  /** The longest message that the server accepts. */
  maxBytes(): number;
  /** Removes what is no longer usable. */
  tidy(value: V): void;
  /** Removes what clients store again by themselves. */
  clear(value: V): void;
}

interface Decided<V> {
  value: V;
  text: string;
  outcomes: Outcome[];
}

interface Decisions<V> {
  before: string;
  batch: readonly Decision<V>[];
  parse(text: string): V;
}

/** Returns the document after these decisions. If there is no room for all of them together, each is decided alone. */
export function decideWithin<V>(
  room: Room<V> | undefined,
  { before, batch, parse }: Decisions<V>,
): Decided<V> {
  const value = parse(before);
  const outcomes = batch.map((change) => outcomeOf(change, value));
  const text = JSON.stringify(value);
  if (room === undefined || !outgrows(room, { before, text })) return { value, text, outcomes };
  let kept = before;
  const each = batch.map((decision) => {
    const { text, outcome } = decideAlone(room, { before: kept, decision, parse });
    kept = text;
    return outcome;
  });
  return { value: parse(kept), text: kept, outcomes: each };
}

function decideAlone<V>(
  room: Room<V>,
  { before, decision, parse }: Omit<Decisions<V>, "batch"> & { decision: Decision<V> },
): { text: string; outcome: Outcome } {
  const value = parse(before);
  const outcome = outcomeOf(decision, value);
  let text = JSON.stringify(value);
  if (!outgrows(room, { before, text })) return { text, outcome };
  room.tidy(value);
  text = JSON.stringify(value);
  if (!outgrows(room, { before, text })) return { text, outcome };
  const most = Math.floor(room.maxBytes() * (decision.isUrgent ? REVOCATION_SHARE : GROWTH_SHARE));
  if (!decision.isUrgent) return { text: before, outcome: { error: tooLong(utf8Length(text), most) } };
  if (utf8Length(text) > most) room.clear(value);
  return { text: JSON.stringify(value), outcome };
}

/** True if the document has grown beyond its share; one that was longer before may shrink. */
function outgrows<V>(room: Room<V>, { before, text }: { before: string; text: string }): boolean {
  const bytes = utf8Length(text);
  return bytes > room.maxBytes() * GROWTH_SHARE && bytes > utf8Length(before);
}

function tooLong(bytes: number, most: number): StoreUnavailable {
  return new StoreUnavailable(
    `Cannot store a change of ${bytes} bytes in NATS: the account's keys, devices and subscriptions may have ${most} ` +
      "together; revoke keys or devices that are not needed, or raise max_payload in the configuration of each NATS server",
  );
}

/** A decision that throws must not have altered the value. */
function outcomeOf<V>({ work }: Decision<V>, value: V): Outcome {
  try {
    return { result: work(value) };
  } catch (error) {
    return { error };
  }
}
