/** Hooks of the Copilot command line. */
import { parseJson } from "../../protocol/json.ts";
import {
  type AgentHooks,
  COMMON_HOOKS,
  type HookInput,
  type HookMeaning,
  objectOf,
  textOf,
  toolStep,
  workingAt,
} from "../hooks.ts";

export const hooks: AgentHooks = {
  ...COMMON_HOOKS,
  promptEvent: "userPromptSubmitted",
  sessionOf: (input) => textOf(input, "sessionId"),
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
    const content = textOf(objectOf({ ...event }, "data"), "content");
    if (content !== undefined) return content;
  }
  return undefined;
}
