/** The hooks by kind of agent, all at once; a hook itself loads but one, by load.ts. */
import type { AgentKind } from "../../protocol/names.ts";
import { hooks as claude } from "./claude.ts";
import { hooks as codex } from "./codex.ts";
import { hooks as copilot } from "./copilot.ts";
import { hooks as cursor } from "./cursor.ts";
import { hooks as gemini } from "./gemini.ts";
import { hooks as opencode } from "./opencode.ts";
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
