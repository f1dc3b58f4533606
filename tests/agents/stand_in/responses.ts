/** OpenAI's Responses API, streamed, as Codex uses it. */
import * as z from "zod/mini";
import { type Answer, type Dialect, personsTexts, sse, type ToolCall, type Turn } from "./dialect.ts";

const Part = z.looseObject({ type: z.string(), text: z.optional(z.string()) });
const Item = z.looseObject({
  type: z.optional(z.string()),
  role: z.optional(z.string()),
  content: z.optional(z.nullable(z.union([z.string(), z.array(Part)]))),
});
const Tool = z.looseObject({
  name: z.optional(z.string()),
  /** The tools of a namespace. */
  tools: z.optional(z.array(z.looseObject({ name: z.string() }))),
});
const Body = z.looseObject({ input: z.array(Item), tools: z.optional(z.array(Tool)) });

function textsOf(item: z.infer<typeof Item>): string[] {
  if (item.role !== "user" || !item.content) return [];
  if (typeof item.content === "string") return [item.content];
  return item.content.flatMap((part) => part.type === "input_text" ? [part.text ?? ""] : []);
}

function read(body: unknown): Turn {
  const { input, tools = [] } = Body.parse(body);
  return {
    prompts: personsTexts(input.flatMap(textsOf)),
    tools: tools.flatMap(({ name = "", tools: inner }) => inner?.map((one) => `${name}/${one.name}`) ?? name),
    afterTool: input.at(-1)?.type?.endsWith("_call_output") ?? false,
  };
}

/**
 * Returns the input of a Codex shell tool, whose fields differ by tool; a request to leave the sandbox opens the
 * dialog.
 */
function shellInput(tool: string, command: string): Record<string, unknown> {
  const ask = { sandbox_permissions: "require_escalated", justification: "Remove the build folder" };
  if (tool === "exec_command") return { cmd: command, ...ask };
  if (tool === "shell") return { command: ["bash", "-lc", command], ...ask };
  return { command, ...ask };
}

function outputItems(answer: Answer): Record<string, unknown>[] {
  if (answer.kind === "text") {
    return [{
      type: "message",
      role: "assistant",
      id: `msg_${crypto.randomUUID()}`,
      content: [{ type: "output_text", text: answer.text, annotations: [] }],
    }];
  }
  return answer.calls.map(functionCall);
}

function functionCall({ tool, input }: ToolCall): Record<string, unknown> {
  const [name = "", namespace] = tool.split("/").reverse();
  return {
    type: "function_call",
    id: `fc_${crypto.randomUUID()}`,
    call_id: `call_${crypto.randomUUID()}`,
    ...(namespace === undefined ? { name } : { name, namespace }),
    arguments: JSON.stringify(input),
  };
}

function events(answer: Answer): string {
  const id = `resp_${crypto.randomUUID()}`;
  const items = outputItems(answer);
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  const done = { id, object: "response", status: "completed", output: items, usage };
  const frames: Record<string, unknown>[] = [
    { type: "response.created", response: { id, object: "response", status: "in_progress", output: [] } },
    ...items.map((item, index) => ({ type: "response.output_item.done", output_index: index, item })),
    { type: "response.completed", response: done },
  ];
  return frames.map((frame) => sse(frame, String(frame.type))).join("");
}

export const RESPONSES: Dialect = {
  matches: (path) => path.endsWith("/v1/responses"),
  read,
  shellTools: ["exec_command", "shell_command", "shell"],
  shellInput,
  events,
};
