/** Names that several programs must build the same way: sessions, projects, labels, devices, agents. */
import { sha256Hex } from "../async/encodings.ts";

/** The session names that a push may target (docs/specification.md, Pushes). */
const SESSION_NAME_PATTERN = /^[A-Za-z0-9._-]+$/;
export const SESSION_NAME_MAX_CHARS = 128;

/** The kinds of agent, with their labels in the picker. */
export const AGENT_LABELS = {
  cc: "Claude",
  gemini: "Gemini",
  codex: "Codex",
  cursor: "Cursor",
  opencode: "OpenCode",
  copilot: "Copilot",
  echo: "Echo",
} as const;

export type AgentKind = keyof typeof AGENT_LABELS;

export function isAgentKind(word: string): word is AgentKind {
  return Object.hasOwn(AGENT_LABELS, word);
}

export function isSessionName(name: string): boolean {
  return name.length <= SESSION_NAME_MAX_CHARS && SESSION_NAME_PATTERN.test(name);
}

/**
 * The project part of a session name: the basename of `directory` with every character outside
 * `[A-Za-z0-9_-]` replaced by `_`, because tmux itself turns `.` and `:` into `_`.
 */
export function projectName(directory: string): string {
  const basename = directory.replace(/\/+$/, "").split("/").pop() ?? "";
  return basename.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, 80) || "project";
}

/** `svc-<project>` for ordinal 1, `svc-<project>-<n>` from 2 on (docs/specification.md, Wrapper). */
export function sessionName(project: string, ordinal: number): string {
  return ordinal === 1 ? `svc-${project}` : `svc-${project}-${ordinal}`;
}

/** The ordinal of `name` among the sessions of `project`, or undefined when it is not one of them. */
export function sessionOrdinal(name: string, project: string): number | undefined {
  const base = sessionName(project, 1);
  if (name === base) return 1;
  const match = /^-([1-9][0-9]{0,5})$/.exec(name.startsWith(base) ? name.slice(base.length) : "");
  const ordinal = Number(match?.[1]);
  return ordinal >= 2 ? ordinal : undefined;
}

/**
 * What the phone's picker shows: `<project> · <Agent>`, from the second on with ` #<n>`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { isSessionName, sessionLabel, sessionName } from "@svc/svc";
 *
 * assert.equal(sessionName("shop", 2), "svc-shop-2");
 * assert.equal(sessionLabel("shop", "Claude", 2), "shop · Claude #2");
 * assert.ok(isSessionName("svc-shop-2") && !isSessionName("two words"));
 * ```
 */
export function sessionLabel(project: string, agentLabel: string, ordinal: number): string {
  const label = `${project} · ${agentLabel}`;
  return ordinal > 1 ? `${label} #${ordinal}` : label;
}

/** The title of a push about a session, not truncated yet: its agent ended its turn, or waits. */
export function sessionTitle(label: string, type: "agent.stop" | "agent.attention"): string {
  return `${label} ${type === "agent.stop" ? "has finished" : "waits for you"}`;
}

/** `dev_listener_<8 hex digits of the SHA-256 of the hostname>` (docs/specification.md, Pushes). */
export async function listenerDeviceId(hostname: string): Promise<string> {
  return `dev_listener_${(await sha256Hex(hostname)).slice(0, 8)}`;
}
