/** What a card shows of an agent's dialog: the whole request, with everything visible, and what a phone may decide about it. */
import type { AgentDialog } from "../../agents/hooks.ts";
import { encodeUtf8, sha256Hex, utf8Length } from "../../async/encodings.ts";
import type { CardData, CardQuestion, Decision, UNUSUAL, WholeRequest } from "../../protocol/ask.ts";
import { BODY_MAX_BYTES, CARD_REQUEST_MAX_BYTES } from "../../protocol/limits.ts";
import type { Policy } from "../inject/policy.ts";
import { isNeverAllowed, namesOutside } from "./never_allowed.ts";

/** A card without the fields that say who asks, and the text that it shows. */
export interface CardContent {
  data: Untimed<CardData>;
  body: string;
  /** All of the request, if the body is its beginning and a phone may fetch it. */
  text?: string;
}
type Untimed<Data> = Data extends unknown ? Omit<Data, "timeoutSeconds" | "replyTo" | "listener"> : never;

/** The sealed text of a push holds no more beside a body of full length. */
const DATA_MAX_BYTES = 6_000;
/** A line that no one reads to its end. */
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

/** Undefined when there is nothing that a phone may answer, or nothing that fits a card. */
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
      // Also what a phone of an earlier version offers, which shows the beginning alone.
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
 * Control characters, unassigned ones, and those that have no width or change the direction of what follows: whoever
 * decides must not read another text than the one that the agent will act on.
 */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufffc\u{1d159}]/gu;
const SEEN = /[\n\t]/;
/** Marks on one character: more of them cover the lines around it. */
const PILED = /(?<=\p{M}{4})\p{M}/gu;
/** Characters that look like a space or a line break, and that a shell takes for part of a word. */
const LOOKALIKE = /\r(?!\n)|(?! )\p{Zs}|\u2800/gu;

/** The text with line feeds, tabs and visible characters only; any other is named by its code point. */
export function visible(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(
    HIDDEN,
    (character) => SEEN.test(character) ? character : named(character),
  ).replace(PILED, named);
}

function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** The longest beginning of at most that many UTF-8 bytes. */
function firstBytes(text: string, limit: number): string {
  return new TextDecoder().decode(encodeUtf8(text).subarray(0, limit)).replace(/\ufffd+$/, "");
}
