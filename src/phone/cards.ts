/** Cards: their options to tap, the outcome of an answer, and whether the card's dialog may still be open. */
import {
  type Answer,
  answerText,
  askDeadline,
  type Asked,
  cardAnswerText,
  type CardQuestion,
  isCard,
  secretFields,
} from "../protocol/ask.ts";
import type { Push } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { Message } from "./message.ts";

/**
 * The outcome of the answer to a card: being delivered, on the host, taken by the agent, too late, refused for another reason,
 * not taken in time, not known, or only claimed by the relay.
 */
export type CardOutcome =
  | "pending"
  | "on_host"
  | "applied"
  | "gone"
  | "refused"
  | "not_taken"
  | "unclear"
  | "unproven";

export function cardOutcome(answer: Message | undefined): CardOutcome {
  if (answer?.progress.kind !== "taken") return "pending";
  const { receipt, unproven } = answer.progress;
  return unproven || receipt.deliverable ? "unproven" : outcomeOf(receipt);
}

function outcomeOf({ state, reason }: Receipt): CardOutcome {
  switch (state) {
    case "queued":
    case "answered":
      return "pending";
    case "delivered":
    case "held":
    case "typed":
      return "on_host";
    case "submitted":
      return "applied";
    case "refused":
      return reason === "dialog_gone" ? "gone" : "refused";
    case "expired":
    case "ignored":
    case "withdrawn":
      return "not_taken";
    case "unknown":
      return "unclear";
  }
}

/** True if the card's dialog may still be open: it has no answer yet, or one that the agent has not taken. */
export function isStanding(
  { push, ask, receipt }: { push: Push; ask: Asked; receipt: Receipt },
  { answer, now }: { answer: Message | undefined; now: number },
): boolean {
  if (!isCard(ask) || now >= askDeadline(push.createdAt, ask)) return false;
  if (receipt.state !== "answered") return !receipt.final;
  return ["pending", "on_host"].includes(cardOutcome(answer));
}

/** An answer as this phone keeps and shows it, without secrets. */
export function answerBody(ask: Asked | undefined, answer: Answer): string {
  return ask !== undefined && isCard(ask)
    ? cardAnswerText(ask, answer)
    : answerText(answer, secretFields(ask));
}

/** The question in one line. */
export function questionLine({ ask, push: { body = "" } }: { ask: Asked; push: Push }): string {
  return ask.kind === "approval" ? `${ask.tool}: ${body}` : body;
}

/** The options of a card with a single question and a single choice, else an empty list. */
export function singleOptions(asked: Asked): CardQuestion["options"] {
  const [question, ...others] = asked.kind === "questions" ? asked.questions : [];
  return question === undefined || others.length > 0 || question.multiple === true ? [] : question.options;
}
