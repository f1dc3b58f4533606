/** The environment of a spawned daemon: the wrapper's, less what belongs to one agent or one pane. */
import type { HomePaths } from "./paths.ts";

/** A daemon started from within an agent would hand these to nobody, or to the wrong one. */
const AGENT_PREFIXES = [
  "CLAUDE_",
  "CODEX_",
  "GEMINI_",
  "CURSOR_",
  "WINDSURF_",
  "OPENCODE_",
  "COPILOT_",
  "MCP_",
];
const AGENT_NAMES = new Set([
  "CLAUDECODE",
  "OPENCODE",
  "SVC_SESSION",
  "TMUX",
  "TMUX_PANE",
]);

/** `SVC_HOME` becomes absolute: the daemon does not work in the wrapper's directory. */
export function daemonEnvironment(
  env: Readonly<Record<string, string>>,
  paths: HomePaths,
): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !isAgentScoped(name));
  const moved: [string, string][] = env.SVC_HOME ? [["SVC_HOME", paths.root]] : [];
  return Object.fromEntries([...kept, ...moved]);
}

function isAgentScoped(name: string): boolean {
  return AGENT_NAMES.has(name) || AGENT_PREFIXES.some((prefix) => name.startsWith(prefix));
}
