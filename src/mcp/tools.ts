/** The four tools: their descriptions and inputs, what they do, and their results for the model. */
import type { CallToolResult, StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import * as z from "zod/mini";
import { utf8Length } from "../async/encodings.ts";
import { answerText, AskField, AskFields, AskLabel, AskOptions, secretFields } from "../protocol/ask.ts";
import { describeFaults, fieldFaults } from "../protocol/errors.ts";
import { minLength } from "../protocol/lengths.ts";
import {
  ASK_TIMEOUT_DEFAULT_SECONDS,
  ASK_TIMEOUT_MAX_SECONDS,
  ASK_TIMEOUT_MIN_SECONDS,
  DATA_MAX_BYTES,
} from "../protocol/limits.ts";
import { Body } from "../protocol/push.ts";
import type { AskClient, Question } from "./ask_client.ts";
import type { Outcome } from "./follow_question.ts";

/** The context of a tool call. */
export interface Call {
  client: AskClient;
  /** Fires when the client cancels the call or is gone. */
  signal: AbortSignal;
  /** Sends progress to a client that asked for it, until the wait ends. */
  withProgress<T>(totalSeconds: number, wait: Promise<T>): Promise<T>;
}

export interface Tool<S extends z.ZodMiniType = z.ZodMiniType> {
  name: string;
  description: string;
  input: S;
  run(args: z.output<S>, call: Call): Promise<CallToolResult>;
}

/** The fields of every question: the wire's own schemas, with descriptions for the model. */
const common = {
  question: Body.check(z.describe("The question, as the user reads it on the phone.")),
  timeoutSeconds: z._default(
    z.int().check(
      z.minimum(ASK_TIMEOUT_MIN_SECONDS),
      z.maximum(ASK_TIMEOUT_MAX_SECONDS),
      z.describe("How long to wait for the answer, in seconds."),
    ),
    ASK_TIMEOUT_DEFAULT_SECONDS,
  ),
};

/** The room in a push's data for options or fields. */
const ASKED_MAX_BYTES = DATA_MAX_BYTES - 512;
const hasRoom = (asked: unknown): boolean => utf8Length(JSON.stringify(asked)) <= ASKED_MAX_BYTES;
const NO_ROOM = { error: `together at most ${ASKED_MAX_BYTES} bytes: put long text into the question` };

const AskInput = z.object({
  ...common,
  options: z.optional(
    AskOptions.check(
      z.refine(hasRoom, NO_ROOM),
      z.describe("Choices, shown as buttons. Left out: a free answer."),
    ),
  ),
  multiple: z.optional(z.boolean().check(z.describe("True when several options may be chosen."))),
});

const PromptInput = z.object(common);

const InputField = z.object({
  ...AskField.shape,
  secret: z.optional(
    z.boolean().check(
      z.describe("For a password: hidden on the phone, and asked for only when the question can be sealed."),
    ),
  ),
});

const FormInput = z.object({
  ...common,
  fields: z.array(InputField).check(
    minLength(1),
    z.refine(hasRoom, NO_ROOM),
    z.describe("What to ask for."),
  ),
});

const NOTE_LEVELS = ["info", "warning", "error"] as const;

const NotifyInput = z.object({
  title: AskLabel.check(z.describe("One line.")),
  body: z.optional(Body.check(z.describe("More, if there is more to say."))),
  level: z._default(z.enum(NOTE_LEVELS), "info"),
});

const LATE =
  "Waits for the answer; when none comes in time, the result says what happens next, and a late answer arrives as a user message.";

const svcAsk: Tool<typeof AskInput> = {
  name: "svc_ask",
  description:
    `Asks the user on their phone: one of some options, several of them, or a free answer. ${LATE}`,
  input: AskInput,
  run: ({ question, ...data }, call) => ask({ text: question, data: { kind: "ask", ...data } }, call),
};

const svcPrompt: Tool<typeof PromptInput> = {
  name: "svc_prompt",
  description: `Asks the user on their phone for free text. ${LATE}`,
  input: PromptInput,
  run: ({ question, ...data }, call) => ask({ text: question, data: { kind: "prompt", ...data } }, call),
};

const svcInput: Tool<typeof FormInput> = {
  name: "svc_input",
  description: `Asks the user on their phone to fill in a form of named, typed fields. ${LATE}`,
  input: FormInput,
  async run({ question, fields, timeoutSeconds }, call) {
    const form = AskFields.safeParse(fields);
    if (!form.success) return errorResult(`Cannot ask for these fields: ${describeFaults(form.error)}`);
    const data = { kind: "input", fields: form.data, timeoutSeconds } as const;
    return await ask({ text: question, data, secret: secretFields(data).size > 0 }, call);
  },
};

const svcNotify: Tool<typeof NotifyInput> = {
  name: "svc_notify",
  description: "Sends a note to the user's phone and returns at once; the user cannot answer it.",
  input: NotifyInput,
  async run({ title, body, level }, { client, signal }) {
    await client.note({ title, body, data: { level } }, signal);
    return textResult("The note is on its way to the phone.");
  },
};

export const TOOLS: readonly Tool[] = [svcAsk, svcPrompt, svcInput, svcNotify];

async function ask(question: Question, { client, signal, withProgress }: Call): Promise<CallToolResult> {
  const { timeoutSeconds } = question.data;
  const outcome = await withProgress(timeoutSeconds, client.ask(question, signal));
  const { session } = client.identity;
  return outcomeResult(outcome, { session, secret: question.secret === true, timeoutSeconds });
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

export function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function outcomeResult(
  outcome: Outcome,
  { session, secret, timeoutSeconds }: {
    /** A late answer is typed into it. */
    session: string | undefined;
    /** The question asked for a secret. */
    secret: boolean;
    timeoutSeconds: number;
  },
): CallToolResult {
  switch (outcome.kind) {
    case "answered":
      return textResult(answerText(outcome.answer));
    case "unsealed":
      return errorResult(SECRET_REFUSED);
    case "unreadable":
      return errorResult(UNREADABLE);
    case "typed":
      return textResult(TYPED);
    case "lost":
      return textResult(LOST);
    case "unconfirmed":
      return textResult(secret || session === undefined ? UNREAD : `${UNREAD} ${PERHAPS_TYPED}`);
    case "timed_out":
      return textResult(
        `No answer came within ${timeoutSeconds} s. ${secret ? SECRET_LATE : whatNext(session)}`,
      );
    case "closed":
      return textResult("The question was closed without an answer. Continue without it.");
  }
}

const UNREADABLE =
  "An answer came that cannot be used: no phone paired with this host sealed it for this question, or it does not fit the question. Do not act on it. The user can pair the phone again with: svc pair";

const TYPED =
  "The answer came while the connection to the relay was lost: it is being typed into this session as the next user message. End your turn so that it can arrive.";

const LOST =
  "An answer came while the connection to the relay was lost, and there is no session that it could be typed into. The user sees that it did not arrive. Ask again if you still need it.";

const UNREAD =
  "An answer came, but the connection to the relay was lost before it could be read. Ask again if you still need it.";

const PERHAPS_TYPED =
  "It may still be typed into this session as a user message: end your turn first, so that it can arrive.";

function whatNext(session: string | undefined): string {
  if (session === undefined) {
    return "This agent does not run in a session that svc started, so a late answer cannot be typed in: the question was withdrawn. When started as svc <agent>, it stays reachable.";
  }
  return `This session (${session}) stays reachable: the question stays open on the phone, and a late answer will be typed in here as a user message when it comes. Do not ask again: continue with what needs no answer, or end your turn.`;
}

const SECRET_REFUSED =
  "Cannot ask for a secret: no phone is paired with this host, so the relay could read the answer. Ask the user to enter it at the computer, for example into a file that you read. Never ask for it in another kind of field.";

const SECRET_LATE =
  "The question was withdrawn: a late answer would be typed into this session, where a secret could be read. Ask again when the user is there.";

/** A schema in the form of the MCP library: a plain JSON Schema for the model, and errors worded as on the wire. */
export function toolSchema<S extends z.core.$ZodType>(
  schema: S,
): StandardSchemaWithJSON<z.input<S>, z.output<S>> {
  const json = (): Record<string, unknown> =>
    plain(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })) as Record<string, unknown>;
  return {
    "~standard": {
      version: 1,
      vendor: "svc",
      validate: (value) => {
        const parsed = z.safeParse(schema, value);
        return parsed.success ? { value: parsed.data } : { issues: issues(parsed.error) };
      },
      jsonSchema: { input: json, output: json },
    },
  };
}

function issues(error: z.core.$ZodError): { message: string }[] {
  return fieldFaults(error).map(({ pointer, detail }) => ({ message: `${pointer || "/"}: ${detail}` }));
}

/** Not every model vendor accepts patterns and dialects in a tool's schema. */
function plain(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(plain);
  if (typeof json !== "object" || json === null) return json;
  const kept = Object.entries(json).filter(([key]) => key !== "pattern" && key !== "$schema");
  return Object.fromEntries(kept.map(([key, value]) => [key, plain(value)]));
}
