/** An answer that no asker took, as a message to the session: its id follows from the answer's, so that it is typed once. */
import { PushId } from "./push_id.ts";

/** A UUID (RFC 9562, version 8). */
export async function lateAnswerId(answerId: string): Promise<string> {
  const text = new TextEncoder().encode(`agent.command of ask.answer ${answerId}`);
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", text)).slice(0, 16);
  bytes[6] = (bytes[6] ?? 0) & 0x0f | 0x80;
  bytes[8] = (bytes[8] ?? 0) & 0x3f | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** `data` of a message that carries a sealed answer: what was sealed is bound to the answer's own id. */
export function lateAnswerData(answerId: string): Record<string, unknown> {
  return { answer: answerId };
}

/** The id of the sealed answer that this message carries; undefined for any other message. */
export function carriedAnswer(
  { data, inReplyTo }: { data?: unknown; inReplyTo?: unknown },
): string | undefined {
  if (inReplyTo === undefined || typeof data !== "object" || data === null || !("answer" in data)) {
    return undefined;
  }
  return PushId.safeParse(data.answer).data;
}
