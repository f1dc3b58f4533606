/** A late answer, which is typed into the session: the message that carries it, and its id. */
import { sha256, uuidOf } from "../async/encodings.ts";
import { PushId } from "./receipt.ts";

/** The id of the message that carries a late answer, derived from the answer's so that it is typed once. A UUID (RFC 9562, version 8). */
export async function lateAnswerId(answerId: string): Promise<string> {
  return uuidOf(await sha256(`agent.command of ask.answer ${answerId}`), 8);
}

/** Whether such a message may have this id. No sender may use it: the answer's id, from which it is derived, is known before. */
export function isLateAnswerId(id: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-8/.test(id);
}

/** `data` of a message that carries a sealed answer: the sealed text is bound to the answer's own id. */
export function lateAnswerData(answerId: string): Record<string, unknown> {
  return { answer: answerId };
}

/** The run of the agent that asked, to which alone this message may go; undefined where its question named none. */
export function askersRun(
  { data, inReplyTo }: { data?: Record<string, unknown> | undefined; inReplyTo?: unknown },
): string | undefined {
  const run = inReplyTo === undefined ? undefined : data?.["run"];
  return typeof run === "string" ? run : undefined;
}

/** The id of the sealed answer in this message; undefined for any other push: an answer is typed, or nothing. */
export function carriedAnswer(
  { type, data, inReplyTo }: { type: string; data?: unknown; inReplyTo?: unknown },
): string | undefined {
  if (type !== "agent.command" || inReplyTo === undefined) return undefined;
  if (typeof data !== "object" || data === null || !("answer" in data)) return undefined;
  return PushId.safeParse(data.answer).data;
}
