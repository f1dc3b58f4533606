/** The controls of a questions card: one tap for a single choice, else choices and a Send button; and its draft. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  type Answer,
  type CardAnswer,
  type CardData,
  cardFault,
  type CardQuestion,
} from "../../protocol/ask.ts";
import { parseJson } from "../../protocol/json.ts";
import { checkBody } from "../check_input.ts";
import { singleOptions } from "../inbox.ts";
import { SESSION_TEXT } from "../session_text.ts";
import { STRINGS } from "../strings.ts";
import { CardButtons, CARDS } from "./card_parts.tsx";
import { Icon } from "./shared.tsx";

const { question: TEXT } = STRINGS;
const { faults: FAULTS } = SESSION_TEXT.form;

interface Props {
  /** The push's id. */
  id: string;
  card: QuestionsCard;
  draft: string;
  /** The option that a notification's button named. */
  preselected?: number | undefined;
  onDraft(text: string): void;
  onAnswer(answer: Answer): void;
}

export function QuestionsForm(props: Props): JSX.Element {
  const { card, draft, preselected } = props;
  const options = singleOptions(card);
  const isNamed = preselected !== undefined && options[preselected] !== undefined;
  const [question] = card.questions;
  // Once the user has begun to answer in another way, the choice stays open until it is sent.
  const [isByTap] = useState(options.length > 0 && !isNamed && draft === "");
  return isByTap && question !== undefined
    ? <ByTap {...props} question={question} />
    : <Form {...props} initial={isNamed ? preselected : undefined} />;
}

/** The user's own words are behind a button: they need a field and a Send button. */
function ByTap({ id, question, onAnswer, ...props }: Props & { question: CardQuestion }): JSX.Element {
  const [isOwn, setOwn] = useState(false);
  if (isOwn) return <Form {...{ id, onAnswer, ...props }} isOwn />;
  const choose = (place: number): void => onAnswer({ kind: "answers", answers: [{ options: [place] }] });
  return (
    <>
      <QuestionText id={`question-${id}`} question={question} />
      <CardButtons>
        {({ isSettled, act }) => (
          <div class="options" role="group" aria-labelledby={`question-${id}`}>
            {question.options.map((option, place) => (
              <button
                key={place}
                type="button"
                class="secondary option"
                aria-disabled={!isSettled}
                onClick={() => act(() => choose(place))}
              >
                <OptionText option={option} />
              </button>
            ))}
          </div>
        )}
      </CardButtons>
      {question.freeText === true && (
        <button
          type="button"
          class="quiet own-words"
          onClick={() => setOwn(true)}
        >
          {TEXT.ownAnswer}
        </button>
      )}
    </>
  );
}

interface FormProps extends Props {
  initial?: number | undefined;
  /** The user is about to answer in their own words. */
  isOwn?: boolean;
}

function Form({ id, card, draft, initial, isOwn = false, onDraft, onAnswer }: FormProps): JSX.Element {
  const [entries, setEntries] = useState(() => initialEntries(card, { draft, initial, isOwn }));
  const answers = answersOf(card, entries);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    if (isOwn) form.current?.querySelector("textarea")?.focus();
  }, []);
  const change = (place: number, entry: Entry): void => {
    const changed = entries.map((one, index) => index === place ? entry : one);
    setEntries(changed);
    onDraft(draftOf(changed));
  };
  return (
    <form ref={form} class="fields" onSubmit={(event) => event.preventDefault()}>
      {card.questions.map((question, place) => (
        <QuestionFields
          key={place}
          name={`${id}-${place}`}
          question={question}
          entry={entries[place] ?? { options: [], isOwn: false, text: "" }}
          onEntry={(entry) => change(place, entry)}
        />
      ))}
      <CardButtons>
        {({ isSettled, act }) => (
          <button
            type="submit"
            class="primary"
            disabled={answers === undefined}
            aria-disabled={!isSettled}
            onClick={() => answers && act(() => onAnswer({ kind: "answers", answers }))}
          >
            {TEXT.send}
          </button>
        )}
      </CardButtons>
    </form>
  );
}

function initialEntries(
  card: QuestionsCard,
  { draft, initial, isOwn }: { draft: string; initial: number | undefined; isOwn: boolean },
): Entry[] {
  const entries = entriesOf(card, draft);
  const [question] = card.questions;
  const [first = { options: [], isOwn: false, text: "" }, ...others] = entries;
  if (question === undefined) return entries;
  if (initial !== undefined) return [withOption(question, first, initial), ...others];
  return isOwn ? [withOwnWords(question, first), ...others] : entries;
}

interface QuestionFieldsProps {
  /** The name of the group of controls. */
  name: string;
  question: CardQuestion;
  entry: Entry;
  onEntry(entry: Entry): void;
}

function QuestionFields({ name, question, entry, onEntry }: QuestionFieldsProps): JSX.Element {
  const type = question.multiple === true ? "checkbox" : "radio";
  const hasOptions = question.options.length > 0;
  return (
    <fieldset class="card-question" aria-labelledby={`${name}-text`}>
      <QuestionText id={`${name}-text`} question={question} />
      {question.options.map((option, place) => (
        <Choice
          key={place}
          {...{ type, name }}
          isChosen={entry.options.includes(place)}
          onChoose={() => onEntry(withOption(question, entry, place))}
        >
          <OptionText option={option} />
        </Choice>
      ))}
      {question.freeText === true && hasOptions && (
        <Choice
          {...{ type, name }}
          isChosen={entry.isOwn}
          onChoose={() => onEntry(withOwnWords(question, entry))}
        >
          <span class="option-label">{CARDS.own}</span>
        </Choice>
      )}
      {(entry.isOwn || !hasOptions) && (
        <OwnWords
          id={`${name}-own`}
          describedBy={`${name}-text`}
          text={entry.text}
          onText={(text) => onEntry({ ...entry, text })}
        />
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  type: "radio" | "checkbox";
  name: string;
  isChosen: boolean;
  onChoose(): void;
  children: JSX.Element;
}

/** A choice as large as its row. */
function Choice({ type, name, isChosen, onChoose, children }: ChoiceProps): JSX.Element {
  return (
    <label class="tick" data-type={type}>
      <input type={type} name={name} checked={isChosen} onChange={onChoose} />
      <Icon name="tick" />
      {children}
    </label>
  );
}

interface OwnWordsProps {
  id: string;
  describedBy: string;
  text: string;
  onText(text: string): void;
}

function OwnWords({ id, describedBy, text, onText }: OwnWordsProps): JSX.Element {
  const { fault } = checkBody(text);
  return (
    <div class="free-text">
      <textarea
        id={id}
        rows={3}
        value={text}
        aria-label={TEXT.answerLabel}
        aria-describedby={describedBy}
        aria-invalid={fault !== undefined}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {fault && <p class="field-fault" role="alert">{FAULTS[fault]}</p>}
    </div>
  );
}

function QuestionText({ id, question }: { id: string; question: CardQuestion }): JSX.Element {
  return (
    <div id={id}>
      {question.heading !== undefined && question.heading !== "" && (
        <p class="question-heading">{question.heading}</p>
      )}
      <p class="question-text">{question.text}</p>
    </div>
  );
}

function OptionText({ option }: { option: CardQuestion["options"][number] }): JSX.Element {
  return (
    <span class="option-text">
      <span class="option-label">{option.label}</span>
      {option.description && <span class="option-description">{option.description}</span>}
    </span>
  );
}

export type QuestionsCard = Extract<CardData, { kind: "questions" }>;

/** What is entered for one question. */
export interface Entry {
  /** Indexes of the chosen options. */
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

/** Toggles an option if several are allowed, else selects it in place of any other and of the user's own words. */
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

/** A question without options can only be answered in the user's own words. */
function answerOf(question: CardQuestion, { options, isOwn, text }: Entry): CardAnswer {
  const hasText = (isOwn || question.options.length === 0) && text.trim() !== "";
  return { options: [...options], ...(hasText ? { text } : {}) };
}
