/** The modules of each kind of agent. Each is loaded on demand: a hook needs one module of one kind, at every prompt. */
import { type AgentKind, isAgentKind } from "../protocol/names.ts";
import type { AgentHooks } from "./hooks.ts";
import type { AgentProfile } from "./profile.ts";
import type { AgentSetup, SetupContext } from "./setup.ts";

interface AgentModules {
  profile(): Promise<{ profile: AgentProfile }>;
  /** Undefined for an agent without hooks. */
  hooks: (() => Promise<{ hooks: AgentHooks }>) | undefined;
  /** Undefined for an agent in which nothing is registered. */
  setup: (() => Promise<{ setUp(context: SetupContext): AgentSetup }>) | undefined;
}

const MODULES: Readonly<Record<AgentKind, AgentModules>> = {
  cc: {
    profile: () => import("./claude/profile.ts"),
    hooks: () => import("./claude/hooks.ts"),
    setup: () => import("./claude/setup.ts"),
  },
  gemini: {
    profile: () => import("./gemini/profile.ts"),
    hooks: () => import("./gemini/hooks.ts"),
    setup: () => import("./gemini/setup.ts"),
  },
  codex: {
    profile: () => import("./codex/profile.ts"),
    hooks: () => import("./codex/hooks.ts"),
    setup: () => import("./codex/setup.ts"),
  },
  cursor: {
    profile: () => import("./cursor/profile.ts"),
    hooks: () => import("./cursor/hooks.ts"),
    setup: () => import("./cursor/setup.ts"),
  },
  opencode: {
    profile: () => import("./opencode/profile.ts"),
    hooks: () => import("./opencode/hooks.ts"),
    setup: () => import("./opencode/setup.ts"),
  },
  copilot: {
    profile: () => import("./copilot/profile.ts"),
    hooks: () => import("./copilot/hooks.ts"),
    setup: () => import("./copilot/setup.ts"),
  },
  echo: { profile: () => import("./echo/profile.ts"), hooks: undefined, setup: undefined },
};

export const AGENT_KINDS: readonly AgentKind[] = Object.keys(MODULES).filter(isAgentKind);

/** The kinds in which `svc setup` registers something. */
export const SETUP_KINDS: readonly AgentKind[] = AGENT_KINDS.filter((kind) => MODULES[kind].setup);

export async function loadProfile(kind: AgentKind): Promise<AgentProfile> {
  return (await MODULES[kind].profile()).profile;
}

export async function loadHooks(kind: AgentKind): Promise<AgentHooks | undefined> {
  return (await MODULES[kind].hooks?.())?.hooks;
}

export async function loadSetup(kind: AgentKind, context: SetupContext): Promise<AgentSetup | undefined> {
  return (await MODULES[kind].setup?.())?.setUp(context);
}
