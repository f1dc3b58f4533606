/** A stand-in for all model APIs, on loopback: records what agents send, and answers as a test decides. */
import { ANTHROPIC } from "./anthropic.ts";
import { CHAT } from "./chat.ts";
import type { Answer, Dialect, Turn } from "./dialect.ts";
import { GEMINI, geminiSummary } from "./gemini.ts";
import { RESPONSES } from "./responses.ts";

const DIALECTS: readonly Dialect[] = [ANTHROPIC, RESPONSES, CHAT, GEMINI];

/** How the stand-in answers one request; undefined uses `callShell`, `callTool` or the plain answer. */
export type Reply =
  | { kind: "text"; text: string }
  | { kind: "shell"; command: string }
  | { kind: "tool"; name: string; input: Record<string, unknown> }
  | undefined;

/** One request for an answer to the person, with its answer and times, in milliseconds of `performance.now()`. */
export interface Exchange {
  askedAt: number;
  /** When the agent received the answer: for a tool call, the time at which the call reached the agent. */
  answeredAt: number;
  /** Whether the request contains the result of a tool call. */
  afterTool: boolean;
  answer: Answer["kind"];
}

export interface StandIn extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  /** The person's texts that the model has received, in order, exactly as the agent sent them. */
  prompts(): string[];
  /** Method and path of every request, in order. */
  requests(): string[];
  /** The bodies of the requests for an answer to the person, as JSON, in order. */
  bodies(): string[];
  /** Names of the tools in the agent's last request. */
  tools(): string[];
  /** True if the agent offers tools but not its shell: its model runs commands by other means. */
  lacksShell(): boolean;
  /** Answers the next prompt with a call of the agent's shell tool, or with several in parallel. */
  callShell(...commands: string[]): void;
  /** Answers the next prompt with a call of the tool with this name, else of one whose name ends with it. */
  callTool(name: string, input: Record<string, unknown>): void;
  /** Holds answers to prompts, so that the agent keeps working, until the returned function is called. */
  hold(): () => void;
  /** Called first for each request for an answer to the person; a test may replace it. */
  reply: (turn: Turn) => Reply;
  /** The answered requests for an answer to the person, in order. */
  exchanges(): readonly Exchange[];
  /** Discards what was recorded so far, for a test of many turns. */
  forget(): void;
}

/** State that decides the answers, in addition to the request. */
class Script {
  prompts: string[] = [];
  readonly requests: string[] = [];
  readonly bodies: string[] = [];
  tools: string[] = [];
  lacksShell = false;
  /** Answers to prompts wait for this. */
  gate: Promise<void> = Promise.resolve();
  release = (): void => {};
  readonly exchanges: Exchange[] = [];
  reply: (turn: Turn) => Reply = () => undefined;
  #call: ((turn: Turn, dialect: Dialect) => Answer | undefined) | undefined;

  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gate = promise;
    this.release = resolve;
    return resolve;
  }

  callShell(commands: readonly string[]): void {
    this.#call = (turn, dialect) => shellCall(commands, { turn, dialect });
  }

  callTool(name: string, input: Record<string, unknown>): void {
    this.#call = ({ tools }) => toolCall(name, { tools, input });
  }

  forget(): void {
    this.prompts = [];
    this.requests.length = 0;
    this.bodies.length = 0;
    this.exchanges.length = 0;
  }

  answer(turn: Turn, dialect: Dialect): Answer {
    const reply = turn.tools.length === 0 ? undefined : this.reply(turn);
    const planned = reply && answerOf(reply, { turn, dialect });
    if (planned !== undefined) return planned;
    const call = turn.afterTool ? undefined : this.#call?.(turn, dialect);
    if (call === undefined) return { kind: "text", text: "Done." };
    this.#call = undefined;
    return call;
  }

  record(turn: Turn): void {
    if (turn.tools.length > 0 && turn.prompts.length >= this.prompts.length) this.prompts = turn.prompts;
  }
}

interface Asked {
  turn: Turn;
  dialect: Dialect;
}

function shellCall(commands: readonly string[], { turn, dialect }: Asked): Answer | undefined {
  const tool = dialect.shellTools.find((name) => turn.tools.includes(name));
  if (tool === undefined) return undefined;
  return { kind: "tools", calls: commands.map((one) => ({ tool, input: dialect.shellInput(tool, one) })) };
}

function toolCall(
  name: string,
  { tools, input }: { tools: readonly string[]; input: Record<string, unknown> },
): Answer | undefined {
  const tool = tools.find((one) => one === name) ?? tools.find((one) => one.endsWith(name));
  return tool === undefined ? undefined : { kind: "tools", calls: [{ tool, input }] };
}

function answerOf(reply: NonNullable<Reply>, asked: Asked): Answer | undefined {
  switch (reply.kind) {
    case "text":
      return reply;
    case "shell":
      return shellCall([reply.command], asked);
    case "tool":
      return toolCall(reply.name, { tools: asked.turn.tools, input: reply.input });
  }
}

async function complete(request: Request, script: Script, dialect: Dialect): Promise<Response> {
  const askedAt = performance.now();
  const body = await request.text();
  const turn = dialect.read(JSON.parse(body));
  script.record(turn);
  if (turn.tools.length > 0) {
    script.bodies.push(body);
    script.tools = turn.tools;
    script.lacksShell = !dialect.shellTools.some((name) => turn.tools.includes(name));
    await script.gate;
  }
  const answer = script.answer(turn, dialect);
  if (turn.tools.length > 0) {
    const { afterTool } = turn;
    script.exchanges.push({ askedAt, answeredAt: performance.now(), afterTool, answer: answer.kind });
  }
  return new Response(dialect.events(answer), {
    headers: { "content-type": "text/event-stream" },
  });
}

/** Answers every other path: agents ask for models, token counts and settings, and work without them. */
function other(path: string): Response {
  const summary = geminiSummary(path);
  if (summary !== undefined) return Response.json(summary);
  if (path.endsWith("/count_tokens")) return Response.json({ input_tokens: 10 });
  if (path.endsWith("/models")) return Response.json({ object: "list", data: [], models: [] });
  return Response.json({ error: { message: "not here", type: "not_found_error" } }, { status: 404 });
}

export function startStandIn(): StandIn {
  const script = new Script();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = new URL(request.url).pathname;
    script.requests.push(`${request.method} ${path}`);
    const dialect = request.method === "POST" ? DIALECTS.find((each) => each.matches(path)) : undefined;
    if (dialect) return await complete(request, script, dialect);
    await request.body?.cancel();
    return other(path);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    prompts: () => [...script.prompts],
    requests: () => [...script.requests],
    bodies: () => [...script.bodies],
    tools: () => script.tools,
    lacksShell: () => script.lacksShell,
    callShell: (...commands) => script.callShell(commands),
    callTool: (name, input) => script.callTool(name, input),
    hold: () => script.hold(),
    get reply() {
      return script.reply;
    },
    set reply(reply) {
      script.reply = reply;
    },
    exchanges: () => script.exchanges,
    forget: () => script.forget(),
    async [Symbol.asyncDispose]() {
      script.release();
      await server.shutdown();
    },
  };
}
