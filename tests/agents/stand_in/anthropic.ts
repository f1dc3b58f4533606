/** Anthropic's Messages API, streamed, as Claude Code uses it. */
import * as z from "zod/mini";
import { type Answer, type Dialect, personsTexts, sse, type Turn } from "./dialect.ts";

const Block = z.looseObject({ type: z.string(), text: z.optional(z.string()) });
const Body = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(Block)]) })),
  tools: z.optional(z.array(z.looseObject({ name: z.string() }))),
});

type Blocks = z.infer<typeof Block>[];

function blocksOf(content: string | Blocks): Blocks {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function read(body: unknown): Turn {
  const { messages, tools = [] } = Body.parse(body);
  const user = messages.filter((message) => message.role === "user").map((message) =>
    blocksOf(message.content)
  );
  const last = user.at(-1) ?? [];
  return {
    prompts: personsTexts(textsOf(user.flat())),
    tools: tools.map((tool) => tool.name),
    // The result of an interrupted call comes together with the next prompt.
    afterTool: last.some(({ type }) => type === "tool_result") && personsTexts(textsOf(last)).length === 0,
  };
}

function textsOf(blocks: Blocks): string[] {
  return blocks.flatMap(({ type, text = "" }) => type === "text" ? [text] : []);
}

interface ContentBlock {
  block: unknown;
  delta: unknown;
}

function content(answer: Answer): { blocks: ContentBlock[]; stop: string } {
  if (answer.kind === "text") {
    const block = { type: "text", text: "" };
    return { blocks: [{ block, delta: { type: "text_delta", text: answer.text } }], stop: "end_turn" };
  }
  const blocks = answer.calls.map(({ tool, input }) => ({
    block: { type: "tool_use", id: `toolu_${crypto.randomUUID()}`, name: tool, input: {} },
    delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
  }));
  return { blocks, stop: "tool_use" };
}

function events(answer: Answer): string {
  const { blocks, stop } = content(answer);
  const message = {
    id: `msg_${crypto.randomUUID()}`,
    type: "message",
    role: "assistant",
    model: "stand-in",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  const end = { stop_reason: stop, stop_sequence: null };
  return [
    sse({ type: "message_start", message }, "message_start"),
    ...blocks.flatMap(({ block, delta }, index) => [
      sse({ type: "content_block_start", index, content_block: block }, "content_block_start"),
      sse({ type: "content_block_delta", index, delta }, "content_block_delta"),
      sse({ type: "content_block_stop", index }, "content_block_stop"),
    ]),
    sse({ type: "message_delta", delta: end, usage: { output_tokens: 5 } }, "message_delta"),
    sse({ type: "message_stop" }, "message_stop"),
  ].join("");
}

export const ANTHROPIC: Dialect = {
  matches: (path) => path.endsWith("/v1/messages"),
  read,
  shellTools: ["Bash"],
  shellInput: (_tool, command) => ({ command, description: "Remove the build folder" }),
  events,
};
