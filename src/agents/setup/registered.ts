/** What the registrations in all agents share: the commands of the hooks, the MCP server's name and time limit. */
import type { AgentKind } from "../../protocol/names.ts";
import { GATES_WORD } from "../hooks/load.ts";
import { ASK_TIMEOUT_MAX_SECONDS } from "../../protocol/limits.ts";
import { shellWord } from "./shell_word.ts";

export const MCP_SERVER = "svc";
export const MCP_TOOLS = ["svc_ask", "svc_prompt", "svc_input", "svc_notify"] as const;
/** A client must let the longest question pass, and the answer after it. */
export const TOOL_LIMIT_SECONDS = ASK_TIMEOUT_MAX_SECONDS + 100;
export const TOOL_LIMIT_MS = TOOL_LIMIT_SECONDS * 1_000;
/** How long an agent waits for a hook: it takes far less, and must not be cut off on a busy machine. */
export const HOOK_LIMIT_SECONDS = 10;
/** The same for a hook that holds a tool call back: it ends its wait by itself long before. */
export const GATE_HOOK_LIMIT_SECONDS = 30;
/** These have no hook that comes before their dialogs. */
const WITHOUT_GATE: readonly AgentKind[] = ["cursor"];

/** The hook of a submitted prompt. */
export function remoteHookCommand(launcher: string, kind: AgentKind): string {
  return `${shellWord(launcher)} remote-hook ${withMark(kind)}`;
}

/** The hook of any other event. */
export function hookCommand(launcher: string, kind: AgentKind, event: string): string {
  return `${shellWord(launcher)} hook ${event} ${withMark(kind)}`;
}

function withMark(kind: AgentKind): string {
  return WITHOUT_GATE.includes(kind) ? kind : `${kind} ${GATES_WORD}`;
}

/** True of a hook's entry that runs any svc's launcher: an earlier setup may have written another path. */
export function runsSvcHook(entry: unknown): boolean {
  return /\/bin\/svc'? (?:remote-hook|hook) /.test(JSON.stringify(entry));
}
