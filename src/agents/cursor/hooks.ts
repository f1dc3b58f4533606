/** Hooks of the Cursor-class agent: none can give text to the model. */
import { type AgentHooks, COMMON_HOOKS, type HookInput, type HookMeaning, textOf } from "../hooks.ts";

export const hooks: AgentHooks = {
  ...COMMON_HOOKS,
  // Its prompt hook answers `{continue, user_message}`, which has no field that the model reads.
  promptEvent: undefined,
  sessionOf: (input) => textOf(input, "conversation_id"),
  directoryOf: ({ workspace_roots: roots }) =>
    Array.isArray(roots) && typeof roots[0] === "string" ? roots[0] : undefined,
  meaning,
  contextOutput: () => "",
};

/** The input of a stop has no message, only how the turn ended. */
function meaning(event: string, input: HookInput): HookMeaning {
  if (event !== "stop") return {};
  const status = textOf(input, "status");
  const text = status === undefined || status === "completed" ? undefined : `It ended as "${status}".`;
  return { state: "idle", notification: { type: "agent.stop", text } };
}
