/**
 * One card: what it shows of an agent's dialog, with hidden characters made visible, and what a phone may decide about
 * it; its question, sealed under a new id each time it is asked; and the request that phones fetch.
 */
import type { AgentDialog, DialogAnswer } from "../../agents/hooks.ts";
import type { Clock } from "../../async/clock.ts";
import { Wakeup } from "../../async/wakeup.ts";
import { type HostPush, sealHostPush } from "../../crypto/host_push.ts";
import type {
  Answer,
  CardData,
  CardQuestion,
  Decision,
  SealedAskData,
  UNUSUAL,
  WholeRequest,
} from "../../protocol/ask.ts";
import {
  BODY_MAX_BYTES,
  CARD_PART_CHARS,
  CARD_REQUEST_MAX_BYTES,
  TTL_MIN_SECONDS,
} from "../../protocol/limits.ts";
import type { Reason } from "../../protocol/receipt.ts";
import { shownDigest } from "../../protocol/shown_digest.ts";
import { encodeUtf8, sha256Hex, utf8Length } from "../../async/encodings.ts";
import type { HookReport } from "../../home/control_socket.ts";
import type { Policy } from "../inject/policy.ts";
import type { Place } from "../targets.ts";
import { isNeverAllowed, namesOutside } from "./never_allowed.ts";

/** A card's data without the fields about the asker, and its text. */
export interface CardContent {
  data: Untimed<CardData>;
  body: string;
  /** The whole request, if the body is only its beginning and a phone may fetch it. */
  text?: string;
}
type Untimed<Data> = Data extends unknown ? Omit<Data, "timeoutSeconds" | "replyTo" | "listener"> : never;

/** A push's sealed text has no room for more data next to a body of full length. */
const DATA_MAX_BYTES = 6_000;
/** A longer line is reported as unusual: nobody reads it to its end. */
const LONG_LINE_CHARS = 2_000;
const TOOL_MAX_CHARS = 200;
const DIRECTORY_MAX_CHARS = 1_000;
const CUT = "\n…";

interface Facts {
  policy: Pick<Policy, "approval">;
  /** The agent's working directory. */
  directory: string;
  /** Further patterns from the host's `neverAllow`. */
  neverAllow: readonly RegExp[];
}

/** Builds a card's content; undefined when a phone may not answer the dialog, or it does not fit a card. */
export async function cardContent(dialog: AgentDialog, facts: Facts): Promise<CardContent | undefined> {
  const content = dialog.kind === "questions" ? questions(dialog) : await approval(dialog, facts);
  return content !== undefined && utf8Length(JSON.stringify(content.data)) <= DATA_MAX_BYTES
    ? content
    : undefined;
}

function questions({ questions: asked }: AgentDialog & { kind: "questions" }): CardContent {
  const shown = asked.map((question): CardQuestion => ({
    ...question,
    text: visible(question.text),
    ...(question.heading === undefined ? {} : { heading: visible(question.heading) }),
    options: question.options.map(({ label, description }) => ({
      label: visible(label),
      ...(description === undefined ? {} : { description: visible(description) }),
    })),
  }));
  return { data: { kind: "questions", questions: shown }, body: shown.map(({ text }) => text).join("\n") };
}

async function approval(
  { tool, request, decisions: possible }: AgentDialog & { kind: "approval" },
  { policy, directory, neverAllow }: Facts,
): Promise<CardContent | undefined> {
  const text = visible(request.replace(LOOKALIKE, named));
  const [name, place] = [visible(tool).replaceAll("\n", " "), visible(directory)];
  const isCut = name.length > TOOL_MAX_CHARS || place.length > DIRECTORY_MAX_CHARS;
  const bytes = utf8Length(text);
  const isLong = bytes > BODY_MAX_BYTES;
  const isTooLong = isCut || bytes > CARD_REQUEST_MAX_BYTES;
  const offered = possible.filter((one) => DECISIONS[policy.approval].includes(one));
  if (offered.length === 0) return undefined;
  const isWithheld = !isTooLong &&
    await isNeverAllowed(`${tool}\n${request}`, { directory, more: neverAllow });
  const decisions = offered.filter((one) => one === "reject" || !(isTooLong || isWithheld));
  if (decisions.length === 0) return undefined;
  const whole: WholeRequest | undefined = isLong && !isTooLong
    ? { length: text.length, digest: await sha256Hex(text), decisions }
    : undefined;
  const withheld = isWithheld ? "never_list" : isTooLong || isLong ? "too_long" : undefined;
  return {
    data: {
      kind: "approval",
      tool: name.slice(0, TOOL_MAX_CHARS),
      directory: place.slice(0, DIRECTORY_MAX_CHARS),
      digest: await sha256Hex(`${tool}\n${directory}\n${request}`),
      // A phone of an earlier version offers these, and shows only the beginning.
      decisions: isLong ? decisions.filter((one) => one === "reject") : decisions,
      unusual: unusualIn(request, { text, directory }),
      ...(withheld === undefined ? {} : { withheld }),
      ...(whole === undefined ? {} : { whole }),
    },
    body: isLong ? firstBytes(text, BODY_MAX_BYTES - utf8Length(CUT)) + CUT : text || " ",
    ...(whole === undefined ? {} : { text }),
  };
}

function unusualIn(
  request: string,
  { text, directory }: { text: string; directory: string },
): (typeof UNUSUAL)[number][] {
  const unusual: (typeof UNUSUAL)[number][] = [];
  if (text !== request.replaceAll("\r\n", "\n")) unusual.push("hidden_characters");
  if (text.split("\n").some((line) => line.length > LONG_LINE_CHARS)) unusual.push("long_lines");
  if (namesOutside(request, directory)) unusual.push("outside_project");
  return unusual;
}

/** What each setting of `allowRemoteApproval` lets a phone decide. */
const DECISIONS: Readonly<Record<Policy["approval"], readonly Decision[]>> = {
  none: [],
  reject: ["reject"],
  once: ["once", "reject"],
  always: ["once", "always", "reject"],
};

/**
 * Control characters, unassigned ones, and those that have no width or change the direction of what follows: the user
 * must not read a different text from the one that the agent will act on.
 */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufffc\u{1d159}]/gu;
const LAYOUT = /[\n\t]/;
/** Combining marks beyond the fourth on one character: they cover the lines around it. */
const PILED = /(?<=\p{M}{4})\p{M}/gu;
/** Characters that look like a space or a line break, but that a shell treats as part of a word. */
const LOOKALIKE = /\r(?!\n)|(?! )\p{Zs}|\u2800/gu;

/** The text with line feeds, tabs and visible characters only; any other is named by its code point. */
export function visible(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(
    HIDDEN,
    (character) => LAYOUT.test(character) ? character : named(character),
  ).replace(PILED, named);
}

function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** The longest beginning of at most `limit` UTF-8 bytes. */
function firstBytes(text: string, limit: number): string {
  return new TextDecoder().decode(encodeUtf8(text).subarray(0, limit)).replace(/\ufffd+$/, "");
}

/** Total characters of requests that are kept for phones to fetch. */
export const REQUESTS_KEPT_MAX_CHARS = 4 * CARD_REQUEST_MAX_BYTES;
/** Characters of requests that one phone may fetch: the longest one twice, then a part every 50 ms. */
export const FETCHED = { perSecond: 20 * CARD_PART_CHARS, burst: 2 * CARD_REQUEST_MAX_BYTES };
/** Refusals of an answer that no paired phone gave: it did not open with the pairing's secret, or was repeated. */
const NO_PHONES: readonly (Reason | undefined)[] = [
  ...["unsealable", "sealed_required", "dialog_not_allowed"] as const,
  ...["counter_used", "counter_old", "counter_missing"] as const,
];

/** How many times a dialog is asked before it opens at the computer. */
export const ASKED_MAX = 4;

/**
 * What an agent's report shows about an answer. `likely`: it was applied, unless the call's end is reported later, as
 * some agents do in the background.
 */
export type Sign = "applied" | "likely" | "gone";

export interface Card {
  /** The id of its question. */
  id: string;
  body: string;
  /** The whole request, if its push holds only the beginning. */
  text: string | undefined;
  /** The agent shows the dialog while its hook waits; otherwise it works meanwhile. */
  isShown: boolean;
  /** The screen has shown the dialog, or the agent at work. */
  wasSeen: boolean;
  /** The last key at the computer before the hook waited, epoch milliseconds. */
  lastKeyAt: number;
  /** The session's name when the card was asked, for which its answer is sealed. */
  session: string;
  /** The place of its screen: the session may be renamed meanwhile. */
  place: Place;
  /** What the agent's hook reported: its kind, and the pane that it runs in, if that is known. */
  asker: Pick<HookReport, "agent" | "session" | "pane" | "socket">;
  data: CardData;
  /** The agent's id of the tool call. */
  tool: string | undefined;
  /**
   * Resolves to true once the relay has its first question and notifies the phones, or to false if the card was given
   * up before.
   */
  readonly stored: PromiseWithResolvers<boolean>;
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
  /** Aborted when the wait for an answer is over. */
  readonly end: AbortController;
  /** By the clock's `elapsed`: when the wait for an answer ends. */
  until: number;
  /** How many times its dialog was asked. */
  asked: number;
  /** Its question was closed by an answer that no paired phone gave, and must be asked again. */
  isAskedAgain: boolean;
}

type NewCard = Pick<
  Card,
  "body" | "text" | "session" | "place" | "asker" | "data" | "tool" | "isShown" | "lastKeyAt"
>;

/** A card that has not been asked yet. `seconds`: how long its hook waits for an answer. */
export function newCard(
  about: NewCard,
  { clock, seconds }: { clock: Pick<Clock, "after" | "elapsed">; seconds: number },
): Card {
  return {
    ...about,
    id: "",
    asked: 0,
    isAskedAgain: false,
    wasSeen: false,
    stored: Promise.withResolvers(),
    until: clock.elapsed() + seconds * 1_000,
    news: new Wakeup(clock),
    end: new AbortController(),
    answer: undefined,
    dialog: undefined,
    isTaken: undefined,
    sign: undefined,
    signAt: 0,
    wasIdle: false,
    isFollowed: false,
  };
}

/** Seals the card's question under a new id. */
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

/**
 * Returns the content without the whole request if there is no room to keep that: the card then offers only what its
 * beginning allows.
 */
export function keptContent(content: CardContent, open: Iterable<Card>): CardContent {
  if (content.text === undefined || content.data.kind !== "approval") return content;
  const kept = [...open].reduce((total, { text = "" }) => total + text.length, 0);
  if (kept + content.text.length <= REQUESTS_KEPT_MAX_CHARS) return content;
  const { whole: _whole, ...data } = content.data;
  return { data, body: content.body };
}

/** A part of the card's request; empty if there is none to fetch, or it ends before `at`. */
export function partOf({ text = "" }: Card, at: number): string {
  return text.slice(at, at + CARD_PART_CHARS);
}

/** True if its dialog must be asked again, because no paired phone gave the answer that closed its question. */
export function isToAskAgain({ asked }: Card, refusal: Reason | undefined): boolean {
  return NO_PHONES.includes(refusal) && refusal !== undefined && asked < ASKED_MAX;
}

/** True unless the answer claims that all of a request was shown and does not prove it. */
export async function isOfAllShown({ id, text }: Card, answer: Answer): Promise<boolean> {
  if (answer.kind !== "decided" || answer.shown === undefined) return true;
  return text !== undefined && answer.shown === await shownDigest(id, text);
}

/** Describes an answer for the audit log, without its texts. */
export function aboutText(card: CardData, answer: Answer | undefined): string {
  if (card.kind === "questions") return `${card.questions.length} question(s)`;
  const decision = answer?.kind === "decided" ? answer.decision : "nothing";
  return `${card.tool} ${card.digest} ${decision} of ${card.decisions.join("|")}`;
}

/** Converts an answer to the form for the hook. What the phone bound to its question was checked before. */
export function dialogAnswer(answer: Answer): DialogAnswer | undefined {
  if (answer.kind === "answers") return answer;
  if (answer.kind !== "decided") return undefined;
  const { kind, decision, reason } = answer;
  return { kind, decision, reason };
}
