/** What the tools take from the model: the wire's own schemas, each with a word on what it is for. */
import * as z from "zod/mini";
import { AskField, AskLabel, AskOptions } from "../protocol/ask.ts";
import {
  ASK_TIMEOUT_DEFAULT_SECONDS,
  ASK_TIMEOUT_MAX_SECONDS,
  ASK_TIMEOUT_MIN_SECONDS,
} from "../protocol/limits.ts";
import { Body } from "../protocol/push.ts";

const common = {
  question: Body.check(z.describe("The question, as the person reads it on the phone.")),
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
      z.describe("For a password: hidden on the phone, and asked for only where the way to it is sealed."),
    ),
  ),
});

export const FormInput = z.object({
  ...common,
  fields: z.array(InputField).check(z.minLength(1), z.describe("What to ask for.")),
});

export const NOTE_LEVELS = ["info", "warning", "error"] as const;

export const NotifyInput = z.object({
  title: AskLabel.check(z.describe("One line.")),
  body: z.optional(Body.check(z.describe("More, if there is more to say."))),
  level: z._default(z.enum(NOTE_LEVELS), "info"),
});
