/** Hooks of the Copilot command line. */
import { parseJson } from "../../protocol/json.ts";
import {
  type AgentHooks,
  type HookInput,
  type HookMeaning,
  objectOf,
  plainPrompt,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

export const hooks: AgentHooks = {
  promptEvent: "userPromptSubmitted",
  sessionOf: (input) => textOf(input, "sessionId"),
  directoryOf: (input) => textOf(input, "cwd"),
  promptOf: plainPrompt,
  isFromMachine: () => false,
  meaning,
  // Unlike the other agents, it ignores `hookSpecificOutput`.
  contextOutput: (_event, additionalContext) => JSON.stringify({ additionalContext }),
  transcript: { pathOf: (input) => textOf(input, "transcriptPath"), lastMessage },
};

function meaning(event: string, input: HookInput): HookMeaning {
  switch (event) {
    case "preToolUse":
      return workingAt(toolStep("before", input));
    // Also sent before tools that need no permission: it sets no state.
    case "permissionRequest":
      return { tool: toolStep("before", input) };
    case "postToolUse":
      return { tool: toolStep("after", input) };
    case "notification":
      if (textOf(input, "notification_type") !== "permission_prompt") return {};
      return { state: "waiting", notification: { type: "agent.attention", text: textOf(input, "message") } };
    case "agentStop":
      return { state: "idle", notification: { type: "agent.stop", text: undefined } };
    case "sessionEnd":
      return { session: "ended" };
    default:
      return {};
  }
}

/** The transcript has one event per line. A message of an earlier turn does not count. */
function lastMessage(text: string): string | undefined {
  const lines = text.trimEnd().split("\n");
  for (const line of lines.reverse()) {
    if (line.includes('"user.message"')) return undefined;
    if (!line.includes('"assistant.message"')) continue;
    const event = parseJson(line)?.value;
    if (typeof event !== "object" || event === null) continue;
    const words = textOf(objectOf({ ...event }, "data"), "content");
    if (words !== undefined) return words;
  }
  return undefined;
}
