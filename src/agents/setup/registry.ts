/** What `svc setup` registers, by kind of agent. */
import type { AgentKind } from "../../protocol/names.ts";
import { setUpClaude } from "./claude.ts";
import { setUpCodex } from "./codex.ts";
import { setUpCopilot } from "./copilot.ts";
import { setUpCursor } from "./cursor.ts";
import { setUpGemini } from "./gemini.ts";
import { setUpOpenCode } from "./opencode.ts";
import type { AgentSetup, SetupPlace } from "./types.ts";

/** The built-in echo agent needs none. */
const SETUPS: Partial<Record<AgentKind, (place: SetupPlace) => AgentSetup>> = {
  cc: setUpClaude,
  gemini: setUpGemini,
  codex: setUpCodex,
  cursor: setUpCursor,
  opencode: setUpOpenCode,
  copilot: setUpCopilot,
};

export const SETUP_KINDS = Object.keys(SETUPS) as AgentKind[];

export function agentSetup(kind: AgentKind, place: SetupPlace): AgentSetup | undefined {
  return SETUPS[kind]?.(place);
}
