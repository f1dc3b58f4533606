/** Functions that the kinds share to show their agent's own dialog on a phone and to pass on the answer. */
import type { CardAnswer, CardQuestion } from "../protocol/ask.ts";
import { type DialogAnswer, type DialogCall, type HookInput, recordOf, textOf } from "./hooks.ts";

/** Reads the field `questions`; `more` adds what differs between agents. Undefined if a question has another form. */
export function questionsOf(
  { questions }: HookInput,
  more: (question: HookInput) => Pick<CardQuestion, "multiple" | "freeText">,
): CardQuestion[] | undefined {
  if (!Array.isArray(questions) || questions.length === 0) return undefined;
  const read = questions.map((question: unknown) => questionOf(question, more));
  return read.every((question) => question !== undefined) ? read : undefined;
}

function questionOf(
  value: unknown,
  more: (question: HookInput) => Pick<CardQuestion, "multiple" | "freeText">,
): CardQuestion | undefined {
  const question = recordOf(value);
  if (question === undefined) return undefined;
  const [text, heading] = [textOf(question, "question"), textOf(question, "header")];
  const options = optionsOf(question.options ?? []);
  if (text === undefined || options === undefined) return undefined;
  return { text, ...(heading === undefined ? {} : { heading }), options, ...more(question) };
}

function optionsOf(value: unknown): CardQuestion["options"] | undefined {
  if (!Array.isArray(value)) return undefined;
  const read = value.map((one: unknown) => {
    const option = typeof one === "string" ? { label: one } : recordOf(one) ?? {};
    const [label, description] = [textOf(option, "label"), textOf(option, "description")];
    return label === undefined ? undefined : { label, ...(description === undefined ? {} : { description }) };
  });
  return read.every((option) => option !== undefined) ? read : undefined;
}

/** A dialog of these questions; undefined when there are none. */
export function questionsCall(
  questions: CardQuestion[] | undefined,
  isShown: boolean,
): DialogCall | undefined {
  return questions && { dialog: { kind: "questions", questions }, isShown };
}

/** The labels of the chosen options and the user's own text, for each question. */
export function answersTo(questions: readonly CardQuestion[], answers: readonly CardAnswer[]): string[][] {
  return questions.map(({ options }, place) => {
    const { options: chosen = [], text } = answers[place] ?? {};
    return [...chosen.map((option) => options[option]?.label ?? ""), ...(text === undefined ? [] : [text])];
  });
}

/** The reason for a refused call that gives the model the answers. */
export function refusalWithAnswers(
  questions: readonly CardQuestion[] = [],
  answers: readonly CardAnswer[] = [],
): string {
  const given = answersTo(questions, answers);
  const lines = questions.map(({ text }, place) => `${text} ${given[place]?.join(", ")}`);
  return `Nothing went wrong: the user has answered on their phone. ${lines.join("\n")}`;
}

/** The reason for the model when the user gave none. */
export function reasonOf(answer: DialogAnswer & { kind: "decided" }): string {
  return answer.reason ?? "The user has rejected this on their phone.";
}

/** A line break of any kind, as a screen may show it. */
const BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** Every field in full: its name alone on a line, its value indented, so that no value looks like a field. */
export function fieldsText(input: HookInput): string {
  return Object.entries(input).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return `${JSON.stringify(name).slice(1, -1)}:\n  ${text.replace(BREAK, "$&  ")}`;
  }).join("\n");
}

/** The whole request, and what `always`, if possible, would allow from then on. */
export function requestText(input: HookInput, lasting?: unknown): string {
  const always = lasting === undefined ? {} : { "allowed from then on, with always": lasting };
  return [input, always].map(fieldsText).filter((text) => text !== "").join("\n");
}
