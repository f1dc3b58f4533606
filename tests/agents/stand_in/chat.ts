/** OpenAI's Chat Completions API, streamed, as OpenCode and Copilot use it for a custom provider. */
import * as z from "zod/mini";
import { type Answer, type Dialect, personsTexts, sse, type Turn } from "./dialect.ts";

const Part = z.looseObject({ type: z.string(), text: z.optional(z.string()) });
const Message = z.looseObject({
  role: z.string(),
  content: z.optional(z.nullable(z.union([z.string(), z.array(Part)]))),
});
const Body = z.looseObject({
  messages: z.array(Message),
  tools: z.optional(z.array(z.looseObject({ function: z.optional(z.looseObject({ name: z.string() })) }))),
});

function textsOf(message: z.infer<typeof Message>): string[] {
  if (message.role !== "user" || !message.content) return [];
  if (typeof message.content === "string") return [message.content];
  return message.content.flatMap((part) => part.type === "text" ? [part.text ?? ""] : []);
}

function read(body: unknown): Turn {
  const { messages, tools = [] } = Body.parse(body);
  return {
    prompts: personsTexts(messages.flatMap(textsOf)),
    tools: tools.flatMap((tool) => tool.function?.name ?? []),
    afterTool: messages.at(-1)?.role === "tool",
  };
}

function delta(answer: Answer): { delta: Record<string, unknown>; finish: string } {
  if (answer.kind === "text") {
    return { delta: { role: "assistant", content: answer.text }, finish: "stop" };
  }
  const calls = answer.calls.map(({ tool, input }, index) => ({
    index,
    id: `call_${crypto.randomUUID()}`,
    type: "function",
    function: { name: tool, arguments: JSON.stringify(input) },
  }));
  return { delta: { role: "assistant", content: null, tool_calls: calls }, finish: "tool_calls" };
}

function events(answer: Answer): string {
  const { delta: first, finish } = delta(answer);
  const head = {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "stand-in",
  };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return [
    sse({ ...head, choices: [{ index: 0, delta: first, finish_reason: null }] }),
    sse({ ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] }),
    sse({ ...head, choices: [], usage }),
    sse("[DONE]"),
  ].join("");
}

export const CHAT: Dialect = {
  matches: (path) => path.endsWith("/chat/completions"),
  read,
  shellTools: ["bash"],
  shellInput: (_tool, command) => ({ command, description: "Remove the build folder" }),
  events,
};
