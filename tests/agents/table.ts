/** The table of what each agent can do: the tests add to it, `deno task test:agents` prints it. */
import * as z from "zod/mini";

/** The rows, in order. */
export const CAPABILITIES = {
  early: "a message sent while it starts waits",
  messages: "20 messages, byte for byte",
  confirmed: "their receipts say `submitted`",
  slash: "a slash command does its work",
  informed: "the model is informed that the phone drives",
  local: "a prompt typed by the local user ends that",
  compacted: "informed again after a compaction",
  changed: "informed also by long, folded and changed texts",
  states: "states seen in order",
  truth: "states against the truth of a script",
  held: "its permission prompt holds a message",
  card: "its dialog's card comes and goes",
  questions: "its questions answered from the phone",
  approvals: "its permissions given and refused from the phone",
  edits: "edits permitted and refused from the phone",
  mcp: "MCP tools permitted and refused from the phone",
  plan: "a plan refused and accepted from the phone",
  always: "permitted for good from the phone",
  opens: "its dialog opens at the computer as without svc",
  keys: "its permission prompt holds the keys",
  exit: "after its exit nothing is typed",
  asked: "svc_ask answered from the phone",
  late: "svc_ask answered late is typed in",
  verify: "svc verify tries its hook and MCP server",
} as const;
export type Capability = keyof typeof CAPABILITIES;

/** Names the file that the tests append to; without it nothing is recorded. */
export const TABLE_VARIABLE = "SVC_AGENT_TABLE";

const Cell = z.object({ agent: z.string(), capability: z.string(), value: z.string() });
export type Cell = z.infer<typeof Cell>;

/** `value` is `yes`, a figure, or the reason why not. */
export function show(agent: string, capability: Capability, value = "yes"): void {
  const file = Deno.env.get(TABLE_VARIABLE);
  if (file === undefined) return;
  Deno.writeTextFileSync(file, `${JSON.stringify({ agent, capability, value })}\n`, { append: true });
}

export function parseCells(text: string): Cell[] {
  return text.split("\n").filter((line) => line !== "").map((line) => Cell.parse(JSON.parse(line)));
}

/** Longer values are printed under the table. */
const WIDE = 12;

/** Returns the table as Markdown. A cell that no test filled is `not shown`. */
export function renderTable(agents: readonly string[], cells: readonly Cell[]): string {
  const notes: string[] = [];
  const cell = (agent: string, capability: string): string => {
    const found = cells.findLast((one) => one.agent === agent && one.capability === capability);
    const value = found?.value ?? "not shown";
    if (value.length <= WIDE) return value;
    if (!notes.includes(value)) notes.push(value);
    return `(${notes.indexOf(value) + 1})`;
  };
  const rows = Object.entries(CAPABILITIES).map(([capability, text]) => [
    text,
    ...agents.map((agent) => cell(agent, capability)),
  ]);
  const widths = [["", ...agents], ...rows].reduce<number[]>(
    (most, row) => row.map((text, at) => Math.max(most[at] ?? 3, text.length)),
    [],
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  const below = notes.length === 0 ? [] : ["", ...notes.map((note, at) => `${at + 1}. ${note}`)];
  return [line(["", ...agents]), rule, ...rows.map(line), ...below].join("\n");
}
