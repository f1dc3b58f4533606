/** The hooks by kind of agent, each loaded when it is asked for: one of them is needed, at every prompt. */
import type { AgentKind } from "../../protocol/names.ts";
import type { AgentHooks } from "./types.ts";

/** The last argument of a hook's command in a registration that has the gate's events: an older registration lacks it. */
export const GATES_WORD = "gates";

/** The casts keep Deno from reading all of them before the program's first line. The built-in echo agent has none. */
const LOADERS: Partial<Record<AgentKind, () => Promise<{ hooks: AgentHooks }>>> = {
  cc: () => import("./claude.ts" as string),
  gemini: () => import("./gemini.ts" as string),
  codex: () => import("./codex.ts" as string),
  cursor: () => import("./cursor.ts" as string),
  opencode: () => import("./opencode.ts" as string),
  copilot: () => import("./copilot.ts" as string),
};

export async function loadHooks(kind: AgentKind): Promise<AgentHooks | undefined> {
  return (await LOADERS[kind]?.())?.hooks;
}
