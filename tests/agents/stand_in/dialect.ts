/** One wire format of a model API: how to read a request and how to answer it. */

/** The parts of a request that the stand-in uses. */
export interface Turn {
  /** The person's texts so far, oldest first, exactly as the agent sent them. */
  prompts: string[];
  /** Names of the tools that the agent offers; none in a housekeeping request (a title, a summary). */
  tools: string[];
  /** Whether the request contains the result of a tool call. */
  afterTool: boolean;
}

export interface ToolCall {
  tool: string;
  input: Record<string, unknown>;
}

export type Answer =
  | { kind: "text"; text: string }
  /** Several calls run in parallel. */
  | { kind: "tools"; calls: readonly ToolCall[] };

export interface Dialect {
  /** True if a request to this path asks for a completion in this format. */
  matches(path: string): boolean;
  /** Throws when the body is not in this format. */
  read(body: unknown): Turn;
  /** The names under which agents of this format offer their shell. */
  shellTools: readonly string[];
  /** The input of the shell tool; a call of it opens the agent's permission dialog. */
  shellInput(tool: string, command: string): Record<string, unknown>;
  /** The whole answer as server-sent events. */
  events(answer: Answer): string;
}

/** One server-sent event (WHATWG HTML, section 9.2). */
export function sse(data: unknown, event?: string): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}

/** Texts that agents insert in the person's role: context, reminders, notices. */
const INSERTED = [
  /^<(system-reminder|environment_context|user_instructions|turn_aborted|hook_context|session_context)>/,
  /^<(permissions instructions|local-command-)/,
  /^# AGENTS\.md instructions/,
  /^\[Request interrupted by user/,
  /^svc REMOTE mode/,
];

/** What agents add around the person's text: the time, notes, and marks around a long or multi-line paste. */
const STAMP = /^<current_datetime>[^<]*<\/current_datetime>\n\n/;
const PASTED = /<pasted_content id="(\w+)">\n([^]*?)\n<\/pasted_content id="\1">/g;
const REMINDER = /\n\n<system_reminder>[^]*<\/system_reminder>\s*$/;

/** Returns the texts that the person wrote, among those in the person's role. */
export function personsTexts(texts: readonly string[]): string[] {
  return texts
    .filter((text) => !INSERTED.some((pattern) => pattern.test(text.trimStart())))
    .map((text) => text.replace(STAMP, "").replace(REMINDER, "").replace(PASTED, "$2"));
}
