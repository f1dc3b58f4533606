/** The slash commands of each kind of agent that are harmless: a host accepts them from phones, and a phone suggests them. */
import type { AgentKind } from "./names.ts";

/**
 * Without the slash. They change no approval, sandbox, hook or tool, and open no other program. Typed in full, each is
 * the first match in the agent's own list.
 */
export const SLASH_COMMANDS: Readonly<Record<AgentKind, readonly string[]>> = {
  cc: [
    "clear",
    "compact",
    "context",
    "help",
    "model",
    "effort",
    "fast",
    "resume",
    "rename",
    "recap",
    "release-notes",
    "status",
    "usage",
    "btw",
    "init",
    "color",
    "tasks",
    "list-agents",
    "focus",
  ],
  gemini: [
    "about",
    "clear",
    "compress",
    "help",
    "model",
    "resume",
    "stats",
    "tools",
    "privacy",
    "init",
    "tasks",
  ],
  codex: [
    "clear",
    "new",
    "compact",
    "status",
    "model",
    "resume",
    "rename",
    "recap",
    "diff",
    "pwd",
    "review",
    "init",
    "side",
    "warnings",
    "ps",
  ],
  cursor: [],
  // The others open a list that only Esc at the computer closes.
  opencode: [
    "compact",
    "init",
    "models",
    "new",
    "review",
    "sessions",
    "thinking",
    "timestamps",
  ],
  copilot: [
    "ask",
    "clear",
    "compact",
    "context",
    "help",
    "list-dirs",
    "model",
    "rename",
    "resume",
    "review",
    "usage",
    "version",
    "env",
  ],
  echo: ["work", "permit", "help"],
};

/**
 * The commands that are harmless only without arguments: the agent puts the arguments into a prompt, runs shell
 * commands in them (OpenCode), or takes them as more commands, with the tools that those may use unasked (Claude).
 */
export const BARE_COMMANDS: Readonly<Partial<Record<AgentKind, readonly string[]>>> = {
  cc: ["init"],
  opencode: ["init", "review"],
};
