/** What a tool answers to the model: always a sentence that says what happened and what comes next. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { answerText } from "../protocol/ask.ts";
import type { Outcome } from "./follow_question.ts";

export function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

export function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

export function outcomeResult(
  outcome: Outcome,
  { session, secret, timeoutSeconds }: {
    /** Into which a late answer is typed. */
    session: string | undefined;
    /** It was asked for a secret. */
    secret: boolean;
    timeoutSeconds: number;
  },
): CallToolResult {
  switch (outcome.kind) {
    case "answered":
      return textResult(answerText(outcome.answer));
    case "unsealed":
      return errorResult(SECRET_REFUSED);
    case "unreadable":
      return errorResult(UNREADABLE);
    case "typed":
      return textResult(TYPED);
    case "timed_out":
      return textResult(
        `No answer came within ${timeoutSeconds} s. ${secret ? SECRET_LATE : whatNext(session)}`,
      );
    case "closed":
      return textResult("The question was closed without an answer. Go on without it.");
  }
}

const UNREADABLE =
  "An answer came that cannot be opened: no phone that is paired with this host sealed it for this question. Do not act on it. The person pairs the phone again with: svc pair";

const TYPED =
  "The answer came while the connection to the relay was lost: it is being typed into this session as the next user message. End your turn, so that it can come in.";

function whatNext(session: string | undefined): string {
  if (session === undefined) {
    return "This agent runs in no session that svc started, so a late answer cannot be typed in: the question was withdrawn. Started as svc <agent>, it stays reachable.";
  }
  return `This session (${session}) stays reachable: the question stays open on the phone, and a late answer will be typed in here as a user message when it comes. Do not ask again: go on with what needs no answer, or end your turn.`;
}

const SECRET_REFUSED =
  "Cannot ask for a secret: no phone is paired with this host, so the answer would pass the relay readable. Have the person enter it at the computer, for example into a file that you read; never ask for it as another field.";

const SECRET_LATE =
  "The question was withdrawn: a late answer would be typed into this session, where a secret could be read. Ask again when the person is there.";
