/** The message that carries a late answer into its session, and the message's id. */
import { sha256, uuidOf } from "../async/encodings.ts";
import { PushId } from "./receipt.ts";

/** The id of the message that carries a late answer, derived from the answer's so that it is typed once. A UUID (RFC 9562, version 8). */
export async function lateAnswerId(answerId: string): Promise<string> {
  return uuidOf(await sha256(`agent.command of ask.answer ${answerId}`), 8);
}

/**
 * True if a message that carries a late answer may have this id. No sender may use such an id, because anyone who knows
 * the answer's id can compute it.
 */
export function isLateAnswerId(id: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-8/.test(id);
}

/** `data` of a message that carries a sealed answer: the sealed text is bound to the answer's own id. */
export function lateAnswerData(answerId: string): Record<string, unknown> {
  return { answer: answerId };
}

/** The only run of an agent for which this message may be typed; undefined if its question named none. */
export function askersRun(
  { data, inReplyTo }: { data?: Record<string, unknown> | undefined; inReplyTo?: unknown },
): string | undefined {
  const run = inReplyTo === undefined ? undefined : data?.["run"];
  return typeof run === "string" ? run : undefined;
}

/** Returns the id of the sealed answer that this message carries; undefined for any other push. */
export function carriedAnswer(
  { type, data, inReplyTo }: { type: string; data?: unknown; inReplyTo?: unknown },
): string | undefined {
  if (type !== "agent.command" || inReplyTo === undefined) return undefined;
  if (typeof data !== "object" || data === null || !("answer" in data)) return undefined;
  return PushId.safeParse(data.answer).data;
}
