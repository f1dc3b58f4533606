/** How each agent's throw-away home is prepared. */
import type { RealAgent } from "../install.ts";
import { setUpClaude } from "./cc.ts";
import { setUpCodex } from "./codex.ts";
import { setUpCopilot } from "./copilot.ts";
import { setUpGemini } from "./gemini.ts";
import { setUpOpenCode } from "./opencode.ts";
import type { Setup } from "./setup.ts";

export const SETUPS: Readonly<Record<RealAgent, Setup>> = {
  cc: setUpClaude,
  codex: setUpCodex,
  gemini: setUpGemini,
  opencode: setUpOpenCode,
  copilot: setUpCopilot,
};
