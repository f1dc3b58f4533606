/** Google's streamGenerateContent, as server-sent events, as Gemini CLI uses it. */
import * as z from "zod/mini";
import { type Answer, type Dialect, personsTexts, sse, type Turn } from "./dialect.ts";

const Part = z.looseObject({ text: z.optional(z.string()), functionResponse: z.optional(z.unknown()) });
const Body = z.looseObject({
  contents: z.array(z.looseObject({ role: z.optional(z.string()), parts: z.array(Part) })),
  tools: z.optional(z.array(z.looseObject({
    functionDeclarations: z.optional(z.array(z.looseObject({ name: z.string() }))),
  }))),
});

/**
 * High enough that a summary is shorter than the conversation, and far below the limit at which the agent summarizes by
 * itself.
 */
const PROMPT_TOKENS = 100_000;

function read(body: unknown): Turn {
  const { contents, tools = [] } = Body.parse(body);
  const user = contents.filter((content) => content.role === "user").map((content) => content.parts);
  const last = user.at(-1) ?? [];
  return {
    prompts: personsTexts(textsOf(user.flat())),
    tools: tools.flatMap((tool) => tool.functionDeclarations ?? []).map((tool) => tool.name),
    // The result of an interrupted call may come with the next prompt.
    afterTool: last.some(({ functionResponse }) => functionResponse !== undefined) &&
      personsTexts(textsOf(last)).length === 0,
  };
}

function textsOf(parts: readonly z.infer<typeof Part>[]): string[] {
  return parts.flatMap(({ text }) => text ?? []);
}

function events(answer: Answer): string {
  const parts = answer.kind === "text"
    ? [{ text: answer.text }]
    : answer.calls.map(({ tool, input }) => ({ functionCall: { name: tool, args: input } }));
  return sse(response(...parts));
}

function response(...parts: unknown[]): Record<string, unknown> {
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: PROMPT_TOKENS,
      candidatesTokenCount: 5,
      totalTokenCount: PROMPT_TOKENS + 5,
    },
    modelVersion: "stand-in",
  };
}

/** Answers a count of tokens, or a request without streaming, which asks for a summary; undefined for another path. */
export function geminiSummary(path: string): unknown {
  if (path.endsWith(":countTokens")) return { totalTokens: 10 };
  if (!path.endsWith(":generateContent")) return undefined;
  return response({ text: "<state_snapshot>Nothing was done yet.</state_snapshot>" });
}

export const GEMINI: Dialect = {
  matches: (path) => path.endsWith(":streamGenerateContent"),
  read,
  shellTools: ["run_shell_command"],
  shellInput: (_tool, command) => ({ command, description: "Remove the build folder" }),
  events,
};
