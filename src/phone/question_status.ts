/** How a question stands on this phone: open, being answered from here, answered by whoever was first, or closed. */
import { askDeadline } from "../protocol/ask.ts";
import type { QuestionItem } from "./inbox.ts";
import type { Message, SendFailure } from "./message.ts";
import type { PhoneState } from "./state.ts";

export type QuestionStatus =
  /** `late`: the agent waits no more, and the answer will be typed; without a session it can be answered no more. */
  | { kind: "open"; late: boolean; deadline: number }
  | { kind: "sending"; message: Message }
  | { kind: "failed"; message: Message; failure: SendFailure }
  /** `answer` and `typed` are missing until they are read; `typed` is the message that a late answer became. */
  | { kind: "answered"; way: AnswerWay; answer?: Message; typed?: Message; here: boolean }
  | { kind: "closed"; why: "withdrawn" | "expired" };

/** Where the answer is: on its way, with the agent, in the session as a message, or nowhere. */
export type AnswerWay = "under_way" | "taken" | "typed" | "lost";

/** `now` by the relay's clock. */
export function questionStatus(state: PhoneState, item: QuestionItem, now: number): QuestionStatus {
  const { push, receipt, ask } = item;
  const messages = [...state.messages.values()];
  if (receipt.state === "answered") return answered(messages, item);
  if (receipt.final || now >= push.expiresAt) {
    return { kind: "closed", why: receipt.state === "withdrawn" ? "withdrawn" : "expired" };
  }
  const own = messages.find(({ answers }) => answers?.question === push.id);
  if (own?.progress.kind === "failed") return { kind: "failed", message: own, failure: own.progress.failure };
  if (own !== undefined) return { kind: "sending", message: own };
  const deadline = askDeadline(push.createdAt, ask);
  const late = now >= deadline;
  if (late && push.agentSessionName === undefined) return { kind: "closed", why: "expired" };
  return { kind: "open", late, deadline };
}

function answered(messages: readonly Message[], { push, receipt }: QuestionItem): QuestionStatus {
  const answer = messages.find(({ id }) => id === receipt.answer);
  const typed = messages.find(({ inReplyTo, answers }) => inReplyTo === push.id && answers === undefined);
  return {
    kind: "answered",
    way: wayOf(answer),
    ...(answer ? { answer } : {}),
    ...(typed ? { typed } : {}),
    here: answer?.fromHere === true,
  };
}

function wayOf(answer: Message | undefined): AnswerWay {
  if (answer?.progress.kind !== "taken") return "under_way";
  const { state } = answer.progress.receipt;
  if (state === "delivered") return "taken";
  if (state === "expired") return "typed";
  return state === "refused" ? "lost" : "under_way";
}
