/** What the tools take from the model: the wire's own schemas with descriptions, in the form that the MCP library takes. */
import * as z from "zod/mini";
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { fieldFaults } from "../protocol/faults.ts";
import { AskField, AskLabel, AskOptions } from "../protocol/ask.ts";
import {
  ASK_TIMEOUT_DEFAULT_SECONDS,
  ASK_TIMEOUT_MAX_SECONDS,
  ASK_TIMEOUT_MIN_SECONDS,
} from "../protocol/limits.ts";
import { Body } from "../protocol/push.ts";

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

export const AskInput = z.object({
  ...common,
  options: z.optional(AskOptions.check(z.describe("Choices, shown as buttons. Left out: a free answer."))),
  multiple: z.optional(z.boolean().check(z.describe("True when several options may be chosen."))),
});

export const PromptInput = z.object(common);

const InputField = z.object({
  ...AskField.shape,
  secret: z.optional(
    z.boolean().check(
      z.describe("For a password: hidden on the phone, and asked for only when the question can be sealed."),
    ),
  ),
});

export const FormInput = z.object({
  ...common,
  fields: z.array(InputField).check(z.minLength(1), z.describe("What to ask for.")),
});

const NOTE_LEVELS = ["info", "warning", "error"] as const;

export const NotifyInput = z.object({
  title: AskLabel.check(z.describe("One line.")),
  body: z.optional(Body.check(z.describe("More, if there is more to say."))),
  level: z._default(z.enum(NOTE_LEVELS), "info"),
});

/** A schema as the MCP library takes it: a plain JSON Schema for the model, and errors worded as on the wire. */
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
