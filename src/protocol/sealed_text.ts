/** The plaintext sealed for phones and askers: a line of JSON, followed by the body if there is one. */
import * as z from "zod/mini";
import { type Answer, AnswerData, answerFields, answerOf } from "./ask.ts";
import { parseJson } from "./json.ts";
import { maxLength } from "./lengths.ts";
import { TITLE_MAX_CHARS } from "./limits.ts";
import { PushId } from "./receipt.ts";

const ContentHead = z.object({
  title: z.optional(z.string().check(maxLength(TITLE_MAX_CHARS))),
  data: z.optional(z.record(z.string(), z.unknown())),
  at: z.optional(z.number()),
  until: z.optional(z.number()),
});

/**
 * The part of a push that only phones may read, with the same field names as in a plain push. `at` is when the host
 * sealed it and `until` when it expires, in epoch milliseconds by the host's clock.
 */
export type PushContent = z.infer<typeof ContentHead> & { body?: string | undefined };

/** `question` binds the sealed answer to one question. */
const AnswerHead = z.object({ question: PushId, data: z.optional(AnswerData) });

export function encodePushContent({ body, ...head }: PushContent): string {
  return withHead(head, body);
}

/** Undefined for text that `encodePushContent` does not produce. */
export function decodePushContent(text: string): PushContent | undefined {
  const { head, body } = splitHead(text);
  const parsed = ContentHead.safeParse(head);
  return parsed.success ? { ...parsed.data, ...(body === undefined ? {} : { body }) } : undefined;
}

export function encodeAnswer(question: string, answer: Answer): string {
  const { data, body } = answerFields(answer);
  return withHead({ question, data }, body);
}

/** Undefined for text that `encodeAnswer` does not produce. */
export function decodeAnswer(text: string): { question: string; answer: Answer } | undefined {
  const { head, body } = splitHead(text);
  const parsed = AnswerHead.safeParse(head);
  const answer = parsed.success ? answerOf({ body, data: parsed.data.data }) : undefined;
  return parsed.success && answer !== undefined ? { question: parsed.data.question, answer } : undefined;
}

function withHead(head: object, body: string | undefined): string {
  const line = JSON.stringify(head);
  return body === undefined ? line : `${line}\n${body}`;
}

function splitHead(text: string): { head: unknown; body: string | undefined } {
  const end = text.indexOf("\n");
  const line = end < 0 ? text : text.slice(0, end);
  return { head: parseJson(line)?.value, body: end < 0 ? undefined : text.slice(end + 1) };
}
