/** The hooks by kind of agent, each loaded when it is asked for: one of them is needed, at every prompt. */
import type { AgentKind } from "../../protocol/names.ts";
import type { AgentHooks } from "./types.ts";

/** The last argument of a hook's command in a registration that has the gate's events: an older registration lacks it. */
export const GATES_WORD = "gates";

/** The built-in echo agent has none. */
const LOADERS: Partial<Record<AgentKind, () => Promise<{ hooks: AgentHooks }>>> = {
  cc: () => import("./claude.ts"),
  gemini: () => import("./gemini.ts"),
  codex: () => import("./codex.ts"),
  cursor: () => import("./cursor.ts"),
  opencode: () => import("./opencode.ts"),
  copilot: () => import("./copilot.ts"),
};

export async function loadHooks(kind: AgentKind): Promise<AgentHooks | undefined> {
  return (await LOADERS[kind]?.())?.hooks;
}
