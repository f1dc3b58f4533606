/** The four tools: what each is for, what it takes, and what it does. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type * as z from "zod/mini";
import { AskFields, secretFields } from "../protocol/ask.ts";
import { describeFaults } from "../protocol/faults.ts";
import type { AskClient, Question } from "./ask_client.ts";
import { errorResult, outcomeResult, textResult } from "./results.ts";
import { AskInput, FormInput, NotifyInput, PromptInput } from "./tool_inputs.ts";

/** What a call works with. */
export interface Call {
  client: AskClient;
  /** Fires when the client takes the call back, or is gone. */
  signal: AbortSignal;
  /** Tells a client that wants to know how long the wait lasts, until it ends. */
  telling<T>(totalSeconds: number, wait: Promise<T>): Promise<T>;
}

export interface Tool<S extends z.ZodMiniType = z.ZodMiniType> {
  name: string;
  description: string;
  input: S;
  run(args: z.output<S>, call: Call): Promise<CallToolResult>;
}

const LATE =
  "Waits for the answer; when none comes in time, the result says what happens next, and a late answer arrives as a user message.";

const svcAsk: Tool<typeof AskInput> = {
  name: "svc_ask",
  description:
    `Asks the person on their phone: one of some options, several of them, or a free answer. ${LATE}`,
  input: AskInput,
  run: ({ question, ...data }, call) => ask({ text: question, data: { kind: "ask", ...data } }, call),
};

const svcPrompt: Tool<typeof PromptInput> = {
  name: "svc_prompt",
  description: `Asks the person on their phone for free text. ${LATE}`,
  input: PromptInput,
  run: ({ question, ...data }, call) => ask({ text: question, data: { kind: "prompt", ...data } }, call),
};

const svcInput: Tool<typeof FormInput> = {
  name: "svc_input",
  description: `Asks the person on their phone to fill in a form of named, typed fields. ${LATE}`,
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
  description: "Sends a note to the person's phone and returns at once; nothing is answered to it.",
  input: NotifyInput,
  async run({ title, body, level }, { client, signal }) {
    await client.note({ title, body, data: { level } }, signal);
    return textResult("The note is on its way to the phone.");
  },
};

export const TOOLS: readonly Tool[] = [svcAsk, svcPrompt, svcInput, svcNotify];

async function ask(question: Question, { client, signal, telling }: Call): Promise<CallToolResult> {
  const { timeoutSeconds } = question.data;
  const outcome = await telling(timeoutSeconds, client.ask(question, signal));
  const { session } = client.identity;
  return outcomeResult(outcome, { session, secret: question.secret === true, timeoutSeconds });
}
