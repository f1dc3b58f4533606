/** Follows one question until it is answered, closed, or its time is over. The relay's word decides, never a frame. */
import type { RelayApi } from "../client/api.ts";
import type { Clock } from "../async/clock.ts";
import { RelayError } from "../client/relay_error.ts";
import type { Answer } from "../protocol/ask.ts";
import { ASK_RETURN_MS } from "../protocol/limits.ts";
import type { Push } from "../protocol/push.ts";
import type { Wakeup } from "../async/wakeup.ts";

export type Outcome =
  | { kind: "answered"; answer: Answer }
  /** An answer came that nobody who may answer has given. */
  | { kind: "unreadable" }
  /** A secret was asked for, and no phone is paired that it could be sealed for: nothing was sent. */
  | { kind: "unsealed" }
  /** The answer came while the asker was cut off: it is typed into the session. */
  | { kind: "typed" }
  | { kind: "timed_out" }
  | { kind: "closed" };

/** The relay is asked again after this time also when it told nothing, as where no WebSocket passes. */
const LOOK_AGAIN_MS = 15_000;
/** How long after its time a question waits for the relay's word on an answer that it took. */
const WORD_LIMIT_MS = 3 * ASK_RETURN_MS;

export interface FollowParts {
  api: RelayApi;
  clock: Clock;
  /** Rung when the relay may have news of the question. */
  wakeup: Wakeup;
  /** The answer in the push; undefined when it cannot be read. */
  read(push: Push): Promise<Answer | undefined>;
  /** Takes the answer of this id, kept for this asker; it counts once its receipt says so. */
  take(answerId: string): void;
}

/** Throws RelayError when the relay will not tell, and the signal's reason when that fires. */
export async function followQuestion(
  parts: FollowParts,
  { id, timeoutMs, signal }: { id: string; timeoutMs: number; signal: AbortSignal },
): Promise<Outcome> {
  const { clock, wakeup } = parts;
  const end = clock.elapsed() + timeoutMs;
  for (;;) {
    const found = await look(parts, { id, signal });
    if (typeof found === "object") return found;
    const left = end - clock.elapsed() + (found === "taking" ? WORD_LIMIT_MS : 0);
    if (left <= 0) return { kind: "timed_out" };
    await wakeup.wait(Math.min(left, LOOK_AGAIN_MS), signal);
  }
}

type Look = Outcome | "open" | "taking";

async function look(
  { api, read, take }: FollowParts,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<Look> {
  try {
    const { receipt } = await api.getPush(id, { signal });
    if (!receipt.final) return "open";
    if (receipt.answer === undefined) return { kind: "closed" };
    const { push, receipt: { state } } = await api.getPush(receipt.answer, { signal });
    if (state === "queued") {
      take(push.id);
      return "taking";
    }
    if (state !== "delivered") return { kind: "typed" };
    const answer = await read(push);
    return answer === undefined ? { kind: "unreadable" } : { kind: "answered", answer };
  } catch (error) {
    if (error instanceof RelayError && error.transient) return "open";
    throw error;
  }
}
