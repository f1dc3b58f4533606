/** Hooks of agent 3, the Codex command line. */
import { textOf, toolInWords } from "./input.ts";
import type { AgentHooks, HookInput, HookMeaning } from "./types.ts";

export const hooks: AgentHooks = {
  promptEvent: "UserPromptSubmit",
  sessionOf: (input) => textOf(input, "session_id"),
  directoryOf: (input) => textOf(input, "cwd"),
  isFromMachine: () => false,
  meaning,
  contextOutput: (hookEventName, additionalContext) =>
    JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext } }),
};

function meaning(event: string, input: HookInput): HookMeaning {
  switch (event) {
    // It comes with the first prompt, not with the start: it tells no state.
    case "SessionStart":
      return textOf(input, "source") === "compact" ? { session: "compacted" } : {};
    case "PermissionRequest":
      return { state: "waiting", words: { type: "agent.attention", text: toolInWords(input) } };
    case "Stop":
      return {
        state: "idle",
        words: { type: "agent.stop", text: textOf(input, "last_assistant_message") },
      };
    case "Interrupt":
      return { state: "idle" };
    case "SessionEnd":
      return { session: "ended" };
    default:
      return {};
  }
}
