/** What agents send to the phone: notifications, questions with their status, and cards with their outcome. */
import {
  type Answer,
  answerText,
  askDeadline,
  type Asked,
  askedOf,
  cardAnswerText,
  type CardQuestion,
  isCard,
  secretFields,
} from "../protocol/ask.ts";
import type { EventData } from "../protocol/frames.ts";
import { isNotification, type NotificationType, type Push, type PushRecord } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import { isOwn, laterReceipt, type Message, type SendFailure } from "./message.ts";

/** The page keeps this many of the newest items; older ones stay on the relay. */
export const INBOX_MAX = 300;

export interface QuestionItem {
  kind: "question";
  push: Push;
  receipt: Receipt;
  ask: Asked;
}

export interface NotificationItem {
  kind: "notification";
  push: Push;
  receipt: Receipt;
  type: NotificationType;
}

export type InboxItem = QuestionItem | NotificationItem;
export type Inbox = ReadonlyMap<string, InboxItem>;

/** Undefined for a push that does not belong in the inbox. */
export function inboxItemOf({ push, receipt }: PushRecord): InboxItem | undefined {
  const ask = askedOf(push);
  // Hosts always seal questions that ask for secrets: a plain one is forged.
  if (push.sealedFor === undefined && secretFields(ask).size > 0) return undefined;
  if (ask !== undefined) return { kind: "question", push, receipt, ask };
  // Muted.
  if (receipt.state === "ignored") return undefined;
  const { type } = push;
  return isNotification(type) ? { kind: "notification", push, receipt, type } : undefined;
}

/** Adds items, keeps later receipts and sealed texts, and drops the oldest beyond `most`, but never `opened`. */
export function withItems(
  inbox: Inbox,
  added: readonly InboxItem[],
  { opened, most = INBOX_MAX }: { opened?: string | undefined; most?: number } = {},
): Inbox {
  if (added.length === 0) return inbox;
  const items = new Map(inbox);
  for (const item of added) {
    const known = items.get(item.push.id);
    const kept = known && wasSealed(known) ? known : item;
    items.set(item.push.id, known ? { ...kept, receipt: laterReceipt(known.receipt, item.receipt) } : item);
  }
  return items.size <= most ? items : bounded(items, { opened, most });
}

/** True if the text came sealed: the relay cannot replace it. */
function wasSealed({ kind, push: { sealedFor, title, body } }: InboxItem): boolean {
  return sealedFor !== undefined && (kind === "question" || (title ?? body) !== undefined);
}

export function withItemReceipt(inbox: Inbox, { id, receipt }: EventData<"push.updated">): Inbox {
  const item = inbox.get(id);
  if (item === undefined) return inbox;
  return new Map(inbox).set(id, { ...item, receipt: laterReceipt(item.receipt, receipt) });
}

/** Questions that can still be answered, newest first. `now` is by the relay's clock. */
export function openQuestions(inbox: Inbox, now: number): QuestionItem[] {
  return newestFirst(inbox).filter((item) => item.kind === "question").filter((item) => isOpen(item, now));
}

/** Everything else, newest first. */
export function closedItems(inbox: Inbox, now: number): InboxItem[] {
  return newestFirst(inbox).filter((item) => item.kind === "notification" || !isOpen(item, now));
}

/**
 * True until the question is settled. A card also closes when its time is over, even if its host has not reported that.
 */
export function isOpen({ push, receipt, ask }: QuestionItem, now: number): boolean {
  return !receipt.final && !(isCard(ask) && now >= askDeadline(push.createdAt, ask));
}

function newestFirst(inbox: Inbox): InboxItem[] {
  return [...inbox.values()].sort((one, other) => other.push.createdAt - one.push.createdAt);
}

/** When the newest item was sent, in epoch milliseconds; 0 if there is none. */
export function newestAt(inbox: Inbox): number {
  return Math.max(0, ...[...inbox.values()].map(({ push }) => push.createdAt));
}

/** Open questions are never dropped. */
function bounded(items: Inbox, { opened, most }: { opened: string | undefined; most: number }): Inbox {
  const kept = newestFirst(items).filter((item, place) =>
    place < most || item.push.id === opened || (item.kind === "question" && !item.receipt.final)
  );
  return new Map(kept.map((item) => [item.push.id, item]));
}

export type QuestionStatus =
  /** `late`: the agent has stopped waiting, so the answer will be typed into its session; `closed` if it has none. */
  | { kind: "open"; late: boolean; deadline: number }
  | { kind: "sending"; message: Message }
  | { kind: "failed"; message: Message; failure: SendFailure }
  /** `answer` and `typed` are missing until they are loaded; `typed` is the message that a late answer became. */
  | {
    kind: "answered";
    outcome: AnswerOutcome | CardOutcome;
    answer?: Message;
    typed?: Message;
    here: boolean;
    unsent?: Message;
  }
  /** `unsent`: an answer from here that the relay did not accept. */
  | { kind: "closed"; why: "withdrawn" | "expired"; unsent?: Message };

/** How far an answer got: not known yet, received by the agent, typed into the session, or lost. */
export type AnswerOutcome = "pending" | "received" | "typed" | "lost";

/** `now` is by the relay's clock. */
export function questionStatus(
  item: QuestionItem,
  state: { messages: ReadonlyMap<string, Message>; now: number },
): QuestionStatus {
  const { push, receipt, ask } = item;
  const { now } = state;
  const messages = [...state.messages.values()];
  const all = messages.filter(({ answers }) => answers?.question === push.id);
  const failed = all.find(({ progress }) => progress.kind === "failed");
  const unsent = failed ? { unsent: failed } : {};
  if (receipt.state === "answered") return { ...answered(messages, item), ...unsent };
  if (receipt.final || now >= push.expiresAt) {
    return { kind: "closed", why: receipt.state === "withdrawn" ? "withdrawn" : "expired", ...unsent };
  }
  const [own] = all;
  if (own?.progress.kind === "failed") return { kind: "failed", message: own, failure: own.progress.failure };
  if (own !== undefined) return { kind: "sending", message: own };
  const deadline = askDeadline(push.createdAt, ask);
  const late = now >= deadline;
  if (late && (isCard(ask) || push.agentSessionName === undefined)) return { kind: "closed", why: "expired" };
  return { kind: "open", late, deadline };
}

function answered(
  messages: readonly Message[],
  { push, receipt, ask }: QuestionItem,
): Extract<QuestionStatus, { kind: "answered" }> {
  const answer = messages.find(({ id }) => id === receipt.answer);
  const typed = messages.find(({ inReplyTo, answers }) => inReplyTo === push.id && answers === undefined);
  return {
    kind: "answered",
    outcome: isCard(ask) ? cardOutcome(answer) : answerOutcome(answer),
    ...(answer ? { answer } : {}),
    ...(typed ? { typed } : {}),
    // After a reload, only a sealed text shows that the answer came from this phone.
    here: answer !== undefined && isOwn(answer),
  };
}

function answerOutcome(answer: Message | undefined): AnswerOutcome {
  if (answer?.progress.kind !== "taken") return "pending";
  const { state } = answer.progress.receipt;
  if (state === "delivered") return "received";
  if (state === "expired") return "typed";
  return state === "refused" ? "lost" : "pending";
}

/** The cards whose dialogs are open, as far as this phone knows. */
export function standingCards(
  { inbox, messages }: { inbox: Inbox; messages: ReadonlyMap<string, Message> },
  now: number,
): QuestionItem[] {
  return [...inbox.values()].filter((item) => item.kind === "question").filter((item) =>
    isStanding(item, { answer: messages.get(item.receipt.answer ?? ""), now })
  );
}

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
  return unproven || receipt.deliverable ? "unproven" : receiptOutcome(receipt);
}

function receiptOutcome({ state, reason }: Receipt): CardOutcome {
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
