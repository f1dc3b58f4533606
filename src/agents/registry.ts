/** The agents that svc starts, by the word after `svc`. */
import type { AgentKind } from "../protocol/names.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { echo } from "./echo.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import type { AgentProfile } from "./profile.ts";

const PROFILES: Record<AgentKind, AgentProfile> = {
  cc: claude,
  gemini,
  codex,
  cursor,
  opencode,
  copilot,
  echo,
};

export const AGENT_KINDS = Object.keys(PROFILES) as AgentKind[];

export function agentProfile(kind: AgentKind): AgentProfile {
  return PROFILES[kind];
}
