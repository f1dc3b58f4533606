/** What the user has entered into a questions card: read from its draft, changed by taps, and made an answer. */
import { type Asked, type CardAnswer, type CardData, cardFault, type CardQuestion } from "../protocol/ask.ts";
import { parseJson } from "../protocol/json.ts";
import { checkBody } from "./check_input.ts";

export type QuestionsCard = Extract<CardData, { kind: "questions" }>;

/** What is entered for one question. */
export interface Entry {
  /** Places of the chosen options. */
  options: readonly number[];
  /** The user answers in their own words, too, or in place of an option. */
  isOwn: boolean;
  text: string;
}

const EMPTY: Entry = { options: [], isOwn: false, text: "" };

/** The entries in a draft, one for each question; empty ones for a draft of another form. */
export function entriesOf({ questions }: QuestionsCard, draft: string): Entry[] {
  const value = parseJson(draft)?.value;
  const entries = Array.isArray(value) ? value : [];
  return questions.map((question, place) => entryOf(question, entries[place]));
}

function entryOf(question: CardQuestion, value: unknown): Entry {
  if (typeof value !== "object" || value === null) return EMPTY;
  const { options, isOwn, text } = value as Partial<Record<keyof Entry, unknown>>;
  const places = Array.isArray(options) ? options : [];
  return {
    options: places.filter((place) => question.options[place] !== undefined),
    isOwn: isOwn === true && question.freeText === true,
    text: typeof text === "string" ? text : "",
  };
}

export function draftOf(entries: readonly Entry[]): string {
  return JSON.stringify(entries);
}

/** With one answer, an option takes the place of any other and of the own words. */
export function withOption(question: CardQuestion, entry: Entry, place: number): Entry {
  if (question.multiple !== true) return { ...entry, options: [place], isOwn: false };
  const others = entry.options.filter((one) => one !== place);
  const options = others.length < entry.options.length ? others : [...others, place];
  return { ...entry, options: options.sort((one, other) => one - other) };
}

export function withOwnWords(question: CardQuestion, entry: Entry): Entry {
  if (question.multiple === true) return { ...entry, isOwn: !entry.isOwn };
  return { ...entry, options: [], isOwn: true };
}

/** The answers to the card's questions; undefined until each has one that the agent accepts. */
export function answersOf(card: QuestionsCard, entries: readonly Entry[]): CardAnswer[] | undefined {
  const answers = card.questions.map((question, place) => answerOf(question, entries[place] ?? EMPTY));
  if (answers.some((answer) => answer.text !== undefined && !checkBody(answer.text).sendable)) {
    return undefined;
  }
  return cardFault(card, { kind: "answers", answers }) === undefined ? answers : undefined;
}

/** A question without options has only the own words. */
function answerOf(question: CardQuestion, { options, isOwn, text }: Entry): CardAnswer {
  const hasText = (isOwn || question.options.length === 0) && text.trim() !== "";
  return { options: [...options], ...(hasText ? { text } : {}) };
}

/** The options of a card that has one question with one answer; none for any other. */
export function singleOptions(asked: Asked): CardQuestion["options"] {
  const [question, ...others] = asked.kind === "questions" ? asked.questions : [];
  return question === undefined || others.length > 0 || question.multiple === true ? [] : question.options;
}
