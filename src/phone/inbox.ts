/** What agents tell the phone: questions, notes, ends of turns and calls for attention. */
import { type AskData, askDataOf, secretFields } from "../protocol/ask.ts";
import type { EventData } from "../protocol/frames.ts";
import type { Push, PushRecord } from "../protocol/push.ts";
import type { Receipt } from "../protocol/receipt.ts";
import { laterReceipt } from "./message.ts";

/** The newest items that the page keeps; older ones are at the relay. */
export const INBOX_MAX = 300;

const TOLD_TYPES = ["note", "broadcast", "agent.stop", "agent.attention"] as const;
export type ToldType = (typeof TOLD_TYPES)[number];

export interface QuestionItem {
  kind: "question";
  push: Push;
  receipt: Receipt;
  ask: AskData;
}

/** Only to be read. */
export interface ToldItem {
  kind: "told";
  push: Push;
  receipt: Receipt;
  type: ToldType;
}

export type InboxItem = QuestionItem | ToldItem;
export type Inbox = ReadonlyMap<string, InboxItem>;

/** Undefined for a push that is nothing for the inbox. */
export function inboxItemOf({ push, receipt }: PushRecord): InboxItem | undefined {
  const ask = askDataOf(push);
  // Hosts ask for secrets sealed only: a plain question is somebody else's.
  if (push.sealedFor === undefined && secretFields(ask).size > 0) return undefined;
  if (ask !== undefined) return { kind: "question", push, receipt, ask };
  // Muted: nobody is told.
  if (receipt.state === "ignored") return undefined;
  const type = TOLD_TYPES.find((one) => one === push.type);
  return type && { kind: "told", push, receipt, type };
}

/** Adds items, keeps what is known better already or was sealed, and bounds how many there are. */
export function withItems(inbox: Inbox, added: readonly InboxItem[]): Inbox {
  if (added.length === 0) return inbox;
  const items = new Map(inbox);
  for (const item of added) {
    const known = items.get(item.push.id);
    const kept = known && wasSealed(known) ? known : item;
    items.set(item.push.id, known ? { ...kept, receipt: laterReceipt(known.receipt, item.receipt) } : item);
  }
  return items.size <= INBOX_MAX ? items : bounded(items);
}

/** Its words came sealed: the relay can have no others in their place. */
function wasSealed({ push: { sealedFor, title, body } }: InboxItem): boolean {
  return sealedFor !== undefined && (title ?? body) !== undefined;
}

export function withItemReceipt(inbox: Inbox, { id, receipt }: EventData<"push.updated">): Inbox {
  const item = inbox.get(id);
  if (item === undefined) return inbox;
  return new Map(inbox).set(id, { ...item, receipt: laterReceipt(item.receipt, receipt) });
}

/** Questions that still take an answer, the newest first. */
export function openQuestions(inbox: Inbox): QuestionItem[] {
  return newestFirst(inbox).filter((item) => item.kind === "question").filter(({ receipt }) =>
    !receipt.final
  );
}

/** Everything else, the newest first. */
export function closedItems(inbox: Inbox): InboxItem[] {
  return newestFirst(inbox).filter((item) => item.kind === "told" || item.receipt.final);
}

function newestFirst(inbox: Inbox): InboxItem[] {
  return [...inbox.values()].sort((one, other) => other.push.createdAt - one.push.createdAt);
}

/** An open question outlives everything. */
function bounded(items: Inbox): Inbox {
  const kept = newestFirst(items).filter((item, place) =>
    place < INBOX_MAX || (item.kind === "question" && !item.receipt.final)
  );
  return new Map(kept.map((item) => [item.push.id, item]));
}
