/** One open card: its question, sealed under an id of its own each time it is asked, and the request that phones fetch. */
import type { DialogAnswer } from "../../agents/hooks.ts";
import type { Clock } from "../../async/clock.ts";
import type { Wakeup } from "../../async/wakeup.ts";
import { type HostPush, sealHostPush } from "../../crypto/host_push.ts";
import type { Answer, CardData, SealedAskData } from "../../protocol/ask.ts";
import { CARD_PART_CHARS, CARD_REQUEST_MAX_BYTES, TTL_MIN_SECONDS } from "../../protocol/limits.ts";
import type { Reason } from "../../protocol/receipt.ts";
import { shownDigest } from "../../protocol/shown_digest.ts";
import type { Sign } from "./calls.ts";
import type { CardContent } from "./card_data.ts";

/** Characters of all requests together that are kept for phones to fetch. */
export const REQUESTS_KEPT_MAX_CHARS = 4 * CARD_REQUEST_MAX_BYTES;
/** Characters of requests that one phone may fetch: the longest one twice, then a part every 50 ms. */
export const FETCHED = { perSecond: 20 * CARD_PART_CHARS, burst: 2 * CARD_REQUEST_MAX_BYTES };
/** Why an answer is not a paired phone's: it did not open with the pairing's secret, or is an old one again. */
const NO_PHONES: readonly (Reason | undefined)[] = [
  ...["unsealable", "sealed_required", "dialog_not_allowed"] as const,
  ...["counter_used", "counter_old", "counter_missing"] as const,
];

/** How often a dialog is asked before it opens at the computer. */
export const ASKED_MAX = 4;

export interface Card {
  /** Of its question. */
  id: string;
  body: string;
  /** All of the request, if its push holds the beginning alone. */
  text: string | undefined;
  /** The agent shows the dialog while its hook waits, else it works meanwhile; and the screen has shown that. */
  isShown: boolean;
  wasSeen: boolean;
  /** The last key at the computer before the hook waited. */
  lastKeyAt: number;
  session: string;
  data: CardData;
  /** The agent's id of the tool call. */
  tool: string | undefined;
  answer: DialogAnswer | undefined;
  /** The dialog that was on the screen when the answer came. */
  dialog: string | undefined;
  /** The hook took the answer; false if it was gone. */
  isTaken: boolean | undefined;
  /** What the agent did since then. */
  sign: Sign | undefined;
  signAt: number;
  /** The screen has shown an idle agent since then. */
  wasIdle: boolean;
  /** Another turn has begun: what the agent does now need not come from the answer. */
  isFollowed: boolean;
  /** Woken by an answer, and by whatever may show its outcome. */
  readonly news: Wakeup;
  /** Aborted when nobody waits any more. */
  readonly end: AbortController;
  /** By the clock's `elapsed`: when nobody waits any more. */
  until: number;
  /** How often its dialog was asked. */
  asked: number;
  /** Its question was closed by somebody else, and is to be asked anew. */
  isAskedAgain: boolean;
}

/** The card's question, under a new id. */
export async function askedAs(
  card: Card,
  { clock, host, phones }:
    & { clock: Pick<Clock, "elapsed"> }
    & Pick<Parameters<typeof sealHostPush>[1], "host" | "phones">,
): Promise<HostPush> {
  const seconds = Math.max(TTL_MIN_SECONDS, Math.ceil((card.until - clock.elapsed()) / 1_000));
  card.id = crypto.randomUUID();
  card.asked++;
  card.data.timeoutSeconds = seconds;
  const { id, body, data, session: agentSessionName } = card;
  const shown: SealedAskData = { kind: "sealed", timeoutSeconds: seconds, replyTo: host, listener: host };
  const ask = { id, type: "ask", body, data, agentSessionName, ttlSeconds: seconds };
  return await sealHostPush(ask, { host, phones, shown });
}

/** Without room to keep all of a request, its card offers only what the beginning is enough for. */
export function keptContent(content: CardContent, open: Iterable<Card>): CardContent {
  if (content.text === undefined || content.data.kind !== "approval") return content;
  const kept = [...open].reduce((total, { text = "" }) => total + text.length, 0);
  if (kept + content.text.length <= REQUESTS_KEPT_MAX_CHARS) return content;
  const { whole: _whole, ...data } = content.data;
  return { data, body: content.body };
}

/** Empty if the card has no request to fetch, or it ends before this. */
export function partOf({ text = "" }: Card, at: number): string {
  return text.slice(at, at + CARD_PART_CHARS);
}

/** Its question was closed by an answer that no paired phone gave. */
export function isToAskAgain({ asked }: Card, refusal: Reason | undefined): boolean {
  return NO_PHONES.includes(refusal) && refusal !== undefined && asked < ASKED_MAX;
}

/** True unless the answer claims that all of a request was shown and does not prove it. */
export async function isOfAllShown({ id, text }: Card, answer: Answer): Promise<boolean> {
  if (answer.kind !== "decided" || answer.shown === undefined) return true;
  return text !== undefined && answer.shown === await shownDigest(id, text);
}

/** For the audit log: never the texts. */
export function aboutText(card: CardData, answer: Answer | undefined): string {
  if (card.kind === "questions") return `${card.questions.length} question(s)`;
  const decision = answer?.kind === "decided" ? answer.decision : "nothing";
  return `${card.tool} ${card.digest} ${decision} of ${card.decisions.join("|")}`;
}

/** The answer for the hook: what the phone bound to its question has been checked by then. */
export function dialogAnswer(answer: Answer): DialogAnswer | undefined {
  if (answer.kind === "answers") return answer;
  if (answer.kind !== "decided") return undefined;
  const { kind, decision, reason } = answer;
  return { kind, decision, reason };
}
