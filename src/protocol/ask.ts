/** An agent's question to its user and the answers that fit it: `data` of the pushes `ask` and `ask.answer`. */
import * as z from "zod/mini";
import type { FieldFault } from "./errors.ts";
import { maxLength, minLength } from "./lengths.ts";
import {
  ASK_FIELDS_MAX,
  ASK_LABEL_MAX_CHARS,
  ASK_OPTIONS_MAX,
  ASK_TIMEOUT_MAX_SECONDS,
  CARD_REQUEST_MAX_BYTES,
} from "./limits.ts";
import { Body, DeviceId, type Push, type PushRequest, type SealedBody, SessionName } from "./push.ts";

/** One line of text that the user reads or chooses. */
export const AskLabel = z.string().check(
  minLength(1),
  maxLength(ASK_LABEL_MAX_CHARS),
  z.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, "no line break and no control character"),
);
const AskFieldName = z.string().check(
  z.regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, "a letter, then at most 63 of A-Z a-z 0-9 _ . -"),
);
/** The options of a question or of a choice field. */
export const AskOptions = z.array(AskLabel).check(
  minLength(1),
  maxLength(ASK_OPTIONS_MAX),
  z.refine(areDifferent, "each once"),
);

const ASK_FIELD_TYPES = ["text", "number", "boolean", "choice"] as const;

/** One value that a form asks for; only the type `choice` has `options`. */
export const AskField = z.object({
  name: AskFieldName,
  /** Shown to the user in place of the name. */
  label: z.optional(AskLabel),
  type: z.enum(ASK_FIELD_TYPES),
  options: z.optional(AskOptions),
  /** The answer may omit it. */
  optional: z.optional(z.boolean()),
  /** The value is never shown, not even while it is typed; allowed only in a sealed question. */
  secret: z.optional(z.boolean()),
}).check(
  z.refine((field) => (field.type === "choice") === (field.options !== undefined), {
    path: ["options"],
    error: "required for choice, and for no other type",
  }),
);
export type AskField = z.infer<typeof AskField>;

export const AskFields = z.array(AskField).check(
  minLength(1),
  maxLength(ASK_FIELDS_MAX),
  z.refine((fields) => areDifferent(fields.map(({ name }) => name)), "each name once"),
);

const common = {
  /** How long the asker waits, counted from `createdAt`; a later answer is typed into the session. */
  timeoutSeconds: z.int().check(z.minimum(1), z.maximum(ASK_TIMEOUT_MAX_SECONDS)),
  /** The device that waits for the answer on its WebSocket. */
  replyTo: z.optional(DeviceId),
  /** The listener that has the session. */
  listener: z.optional(DeviceId),
  /** The run of the agent that asks, as its host names it: a late answer is typed only for this run. */
  run: z.optional(z.string().check(maxLength(100))),
};

/** `data` of an `ask`; its `body` is the question, and a late answer is typed into its `agentSessionName`. */
export const AskData = z.discriminatedUnion("kind", [
  /** One option, several options, or free text. */
  z.object({
    kind: z.literal("ask"),
    options: z.optional(AskOptions),
    multiple: z.optional(z.boolean()),
    ...common,
  }),
  /** Free text. */
  z.object({ kind: z.literal("prompt"), ...common }),
  /** A form. `session`: the one that asks, to be shown, if no late answer may be typed into it. */
  z.object({
    kind: z.literal("input"),
    fields: AskFields,
    session: z.optional(SessionName),
    ...common,
  }),
]);
export type AskData = z.infer<typeof AskData>;

const CARD_TEXT_MAX_CHARS = 4_000;
const CARD_QUESTIONS_MAX = 8;

/** One of the questions that an agent's own dialog asks. An answer names options by index, from 0. */
const CardQuestion = z.object({
  text: z.string().check(minLength(1), maxLength(CARD_TEXT_MAX_CHARS)),
  heading: z.optional(z.string().check(maxLength(ASK_LABEL_MAX_CHARS))),
  options: z.array(z.object({
    label: z.string().check(minLength(1), maxLength(CARD_TEXT_MAX_CHARS)),
    description: z.optional(z.string().check(maxLength(CARD_TEXT_MAX_CHARS))),
  })).check(maxLength(ASK_OPTIONS_MAX)),
  multiple: z.optional(z.boolean()),
  /** The agent accepts a text in place of the options. */
  freeText: z.optional(z.boolean()),
});
export type CardQuestion = z.infer<typeof CardQuestion>;

export const CardQuestions = z.array(CardQuestion).check(minLength(1), maxLength(CARD_QUESTIONS_MAX));

/** Allow this request, allow it and those that the agent then no longer asks about, or refuse it. */
export const Decision = z.enum(["once", "always", "reject"]);
export type Decision = z.infer<typeof Decision>;

/** What a phone marks in a request before its user decides. */
export const UNUSUAL = ["hidden_characters", "long_lines", "outside_project"] as const;

/** Why a phone may not allow a request: no phone may allow one of its kind, or it is too long to be shown in full. */
const WITHHELD = ["never_list", "too_long"] as const;

/** In hex. */
const Sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));

/** A request that is too long for its push, whose body has only its beginning; a phone fetches it from the host. */
const WholeRequest = z.object({
  /** Length of the text as it is shown, in UTF-16 code units. */
  length: z.int().check(z.minimum(1), z.maximum(CARD_REQUEST_MAX_BYTES)),
  digest: Sha256,
  /** The decisions for a phone that has fetched all of it; the card's own `decisions` need only the beginning. */
  decisions: z.array(Decision),
});
export type WholeRequest = z.infer<typeof WholeRequest>;

/**
 * `data` of an `ask` that represents an agent's own dialog. It is always sealed: the relay refuses a plain one. The
 * listener asks and applies the answer; a late answer is never typed.
 */
export const CardData = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("questions"),
    questions: CardQuestions,
    ...common,
  }),
  /** A request for permission; the push's body shows it in full, unless `whole` is present. */
  z.object({
    kind: z.literal("approval"),
    tool: z.string().check(maxLength(ASK_LABEL_MAX_CHARS)),
    directory: z.string().check(maxLength(CARD_TEXT_MAX_CHARS)),
    /** SHA-256 of the request as the agent gave it, in hex. The answer repeats it. */
    digest: Sha256,
    decisions: z.array(Decision),
    unusual: z.array(z.enum(UNUSUAL)),
    withheld: z.optional(z.enum(WITHHELD)),
    whole: z.optional(WholeRequest),
    ...common,
  }),
]);
export type CardData = z.infer<typeof CardData>;
/** A question as a phone reads it. */
export type Asked = AskData | CardData;

/** `data` of an `ask` whose question is sealed for phones: only what the relay needs. */
export const SealedAskData = z.object({ kind: z.literal("sealed"), ...common });
export type SealedAskData = z.infer<typeof SealedAskData>;
/** A question as the relay stores it. */
export type StoredAskData = AskData | SealedAskData;

const CardAnswer = z.object({
  options: z.array(z.int().check(z.minimum(0), z.maximum(ASK_OPTIONS_MAX))).check(maxLength(ASK_OPTIONS_MAX)),
  text: z.optional(Body),
});
export type CardAnswer = z.infer<typeof CardAnswer>;

/** `data` of an `ask.answer`; free text is in its `body` instead. */
export const AnswerData = z.object({
  choices: z.optional(z.array(AskLabel).check(minLength(1), maxLength(ASK_OPTIONS_MAX))),
  values: z.optional(z.record(AskFieldName, z.union([z.boolean(), z.number(), Body]))),
  /** The answers to the questions of a card, in order. */
  answers: z.optional(z.array(CardAnswer).check(minLength(1), maxLength(CARD_QUESTIONS_MAX))),
  /** The answer to a request for permission. */
  decided: z.optional(z.object({
    decision: Decision,
    digest: z.string(),
    reason: z.optional(Body),
    /** For a request that was fetched: `shownDigest` of its whole text. */
    shown: z.optional(z.string()),
  })),
});
export type AnswerData = z.infer<typeof AnswerData>;
export type FieldValue = string | number | boolean;

export type Answer =
  | { kind: "text"; text: string }
  | { kind: "choices"; choices: string[] }
  | { kind: "values"; values: Record<string, FieldValue> }
  | { kind: "answers"; answers: CardAnswer[] }
  | {
    kind: "decided";
    decision: Decision;
    digest: string;
    reason?: string | undefined;
    shown?: string | undefined;
  };

/** The data of a stored `ask`; undefined for any other push and for data that this version does not know. */
export function askDataOf({ type, data }: Pick<Push, "type" | "data">): AskData | undefined {
  return type === "ask" ? AskData.safeParse(data).data : undefined;
}

/** What a push that a phone has opened asks: a card is accepted only if the push was sealed. */
export function askedOf(push: Pick<Push, "type" | "data" | "sealedFor">): Asked | undefined {
  const card = push.type === "ask" && push.sealedFor !== undefined && CardData.safeParse(push.data).data;
  return card || askDataOf(push);
}

export function isCard(asked: Asked): asked is CardData {
  return asked.kind === "questions" || asked.kind === "approval";
}

/** The data of an `ask` as the relay stores it: perhaps a question that only phones can read. */
export function storedAskDataOf(push: Pick<Push, "type" | "data" | "sealedFor">): StoredAskData | undefined {
  if (push.sealedFor === undefined) return askDataOf(push);
  return push.type === "ask" ? SealedAskData.safeParse(push.data).data : undefined;
}

/** The names of the fields whose values are secret. */
export function secretFields(ask: Asked | undefined): Set<string> {
  const fields = ask?.kind === "input" ? ask.fields : [];
  return new Set(fields.filter(({ secret }) => secret === true).map(({ name }) => name));
}

/** When the asker stops waiting, in epoch milliseconds. */
export function askDeadline(createdAt: number, { timeoutSeconds }: Pick<AskData, "timeoutSeconds">): number {
  return createdAt + timeoutSeconds * 1_000;
}

/** Returns the answer in a push; undefined unless it has exactly one of `body` and the fields of `data`. */
export function answerOf({ body, data }: Pick<PushRequest, "body" | "data">): Answer | undefined {
  const parsed = AnswerData.safeParse(data ?? {});
  if (!parsed.success) return undefined;
  const { choices, values, answers, decided } = parsed.data;
  if ([body, choices, values, answers, decided].filter((part) => part !== undefined).length !== 1) {
    return undefined;
  }
  if (choices !== undefined) return { kind: "choices", choices };
  if (answers !== undefined) return { kind: "answers", answers };
  if (decided !== undefined) return { kind: "decided", ...decided };
  return values === undefined ? { kind: "text", text: body ?? "" } : { kind: "values", values };
}

/** An answer as the relay receives it. */
export type SentAnswer = Answer | { kind: "sealed"; sealed: SealedBody };

/** The answer in a request, perhaps one that only the asker can read. */
export function sentAnswerOf(
  { body, data, sealed }: Pick<PushRequest, "body" | "data" | "sealed">,
): SentAnswer | undefined {
  if (sealed === undefined) return answerOf({ body, data });
  return body === undefined && data === undefined ? { kind: "sealed", sealed } : undefined;
}

/** The fields of the push that carries the answer. */
export function answerFields(answer: Answer): { body?: string; data?: AnswerData } {
  switch (answer.kind) {
    case "text":
      return { body: answer.text };
    case "choices":
      return { data: { choices: answer.choices } };
    case "values":
      return { data: { values: answer.values } };
    case "answers":
      return { data: { answers: answer.answers } };
    case "decided": {
      const { decision, digest, reason, shown } = answer;
      const more = { ...(reason === undefined ? {} : { reason }), ...(shown === undefined ? {} : { shown }) };
      return { data: { decided: { decision, digest, ...more } } };
    }
  }
}

/** Why the answer does not fit the question; undefined when it does. */
export function answerFault(ask: AskData, answer: Answer): FieldFault | undefined {
  switch (answer.kind) {
    case "text":
      return ask.kind === "input" ? { pointer: "/data/values", detail: "required for a form" } : undefined;
    case "choices":
      return choicesFault(ask, answer.choices);
    case "values":
      return ask.kind === "input"
        ? valuesFault(ask.fields, answer.values)
        : { pointer: "/data/values", detail: "only for a form" };
    case "answers":
    case "decided":
      return { pointer: "/data", detail: "only for a sealed card" };
  }
}

/** Why an answer does not fit a card, which only its listener and its phones can read. */
export function cardFault(card: CardData, answer: Answer): string | undefined {
  if (card.kind === "approval") {
    if (answer.kind !== "decided") return "a decision is required";
    if (answer.digest !== card.digest) return "the decision is about another request";
    const offered = answer.shown === undefined ? card.decisions : card.whole?.decisions ?? [];
    return offered.includes(answer.decision) ? undefined : "this decision is not offered";
  }
  if (answer.kind !== "answers") return "answers are required";
  if (answer.answers.length !== card.questions.length) return "one answer for each question";
  return card.questions.map((question, place) => questionFault(question, answer.answers[place])).find((
    fault,
  ) => fault !== undefined);
}

function questionFault(question: CardQuestion, answer: CardAnswer | undefined): string | undefined {
  const { options = [], text } = answer ?? {};
  if (text !== undefined && question.freeText !== true) return "no text is accepted";
  if (options.length === 0 && text === undefined) return "every question needs an answer";
  if (options.some((place) => place >= question.options.length) || new Set(options).size < options.length) {
    return "no such option";
  }
  const count = options.length + (text === undefined ? 0 : 1);
  return count > 1 && question.multiple !== true ? "one only" : undefined;
}

/** Why an answer does not fit a stored question. Only the asker can check the content of a sealed one. */
export function sentAnswerFault(ask: StoredAskData, answer: SentAnswer): FieldFault | undefined {
  if (ask.kind === "sealed") {
    return answer.kind === "sealed"
      ? undefined
      : { pointer: "/sealed", detail: "required for a sealed question" };
  }
  return answer.kind === "sealed"
    ? { pointer: "/sealed", detail: "only for a sealed question" }
    : answerFault(ask, answer);
}

/** Shown in place of a secret value. */
const HIDDEN = "••••";

/** The answer as text, for typing, for the agent and for display; `hidden` fields show no value. */
export function answerText(answer: Answer, hidden: ReadonlySet<string> = new Set()): string {
  switch (answer.kind) {
    case "text":
      return answer.text;
    case "choices":
      return answer.choices.join(", ");
    case "values":
      return Object.entries(answer.values)
        .map(([name, value]) => `${name}: ${hidden.has(name) ? HIDDEN : value}`)
        .join("\n");
    case "answers":
      return answer.answers.map(({ options, text }) =>
        [...options.map((place) => place + 1), text ?? []].flat().join(", ")
      ).join("\n");
    case "decided":
      return [answer.decision, answer.reason ?? []].flat().join(": ");
  }
}

/** The answer to a card with the names of the options, for display. */
export function cardAnswerText(card: CardData, answer: Answer): string {
  if (card.kind !== "questions" || answer.kind !== "answers") return answerText(answer);
  return answer.answers.map(({ options, text }, place) => {
    const labels = options.map((option) => card.questions[place]?.options[option]?.label ?? "");
    return [...labels, text ?? []].flat().join(", ");
  }).join("\n");
}

function choicesFault(ask: AskData, choices: readonly string[]): FieldFault | undefined {
  const pointer = "/data/choices";
  const options = ask.kind === "ask" ? ask.options ?? [] : [];
  if (options.length === 0) return { pointer, detail: "only for a question with options" };
  if (!choices.every((choice) => options.includes(choice)) || !areDifferent(choices)) {
    return { pointer, detail: `of ${options.map((option) => JSON.stringify(option)).join(", ")}, each once` };
  }
  const several = choices.length > 1 && !(ask.kind === "ask" && ask.multiple === true);
  return several ? { pointer, detail: "one only" } : undefined;
}

function valuesFault(
  fields: readonly AskField[],
  values: Readonly<Record<string, FieldValue>>,
): FieldFault | undefined {
  const unknown = Object.keys(values).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) return { pointer: `/data/values/${unknown}`, detail: "no field has this name" };
  for (const field of fields) {
    const detail = valueFault(field, Object.hasOwn(values, field.name) ? values[field.name] : undefined);
    if (detail !== undefined) return { pointer: `/data/values/${field.name}`, detail };
  }
  return undefined;
}

function valueFault(field: AskField, value: FieldValue | undefined): string | undefined {
  if (value === undefined) return field.optional === true ? undefined : "required";
  switch (field.type) {
    case "text":
      return typeof value === "string" ? undefined : "must be a string";
    case "number":
      return typeof value === "number" ? undefined : "must be a number";
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "choice":
      return field.options?.includes(String(value)) ? undefined : `one of ${field.options?.join(", ")}`;
  }
}

function areDifferent(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}
