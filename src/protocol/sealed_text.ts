/** The texts that are sealed toward phones and askers: a line of JSON, and after it the body, if there is one. */
import * as z from "zod/mini";
import { type Answer, AnswerData, answerFields, answerOf } from "./ask.ts";
import { parseJson } from "./json.ts";
import { TITLE_MAX_CHARS } from "./limits.ts";
import { PushId } from "./push_id.ts";

const ToldHead = z.object({
  title: z.optional(z.string().check(z.maxLength(TITLE_MAX_CHARS))),
  data: z.optional(z.record(z.string(), z.unknown())),
});

/** What only the phones may read of a push toward them, under the names that it has in a plain one. */
export type Told = z.infer<typeof ToldHead> & { body?: string | undefined };

/** `question`: an answer that was sealed for one question must answer no other. */
const AnswerHead = z.object({ question: PushId, data: z.optional(AnswerData) });

export function encodeTold({ title, data, body }: Told): string {
  return withHead({ title, data }, body);
}

/** Undefined for what `encodeTold` does not write. */
export function decodeTold(text: string): Told | undefined {
  const { head, body } = apart(text);
  const parsed = ToldHead.safeParse(head);
  return parsed.success ? { ...parsed.data, ...(body === undefined ? {} : { body }) } : undefined;
}

export function encodeAnswer(question: string, answer: Answer): string {
  const { data, body } = answerFields(answer);
  return withHead({ question, data }, body);
}

/** Undefined for what `encodeAnswer` does not write. */
export function decodeAnswer(text: string): { question: string; answer: Answer } | undefined {
  const { head, body } = apart(text);
  const parsed = AnswerHead.safeParse(head);
  const answer = parsed.success ? answerOf({ body, data: parsed.data.data }) : undefined;
  return parsed.success && answer !== undefined ? { question: parsed.data.question, answer } : undefined;
}

function withHead(head: object, body: string | undefined): string {
  const line = JSON.stringify(head);
  return body === undefined ? line : `${line}\n${body}`;
}

function apart(text: string): { head: unknown; body: string | undefined } {
  const end = text.indexOf("\n");
  const line = end < 0 ? text : text.slice(0, end);
  return { head: parseJson(line)?.value, body: end < 0 ? undefined : text.slice(end + 1) };
}
