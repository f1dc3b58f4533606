/** The hooks by kind of agent. All are loaded at every prompt, so each file is small and loads nothing else. */
import type { AgentKind } from "../../protocol/names.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import type { AgentHooks } from "./types.ts";

/** The built-in echo agent has none. */
const HOOKS: Partial<Record<AgentKind, AgentHooks>> = {
  cc: claude,
  gemini,
  codex,
  cursor,
  opencode,
  copilot,
};

export function agentHooks(kind: AgentKind): AgentHooks | undefined {
  return HOOKS[kind];
}
