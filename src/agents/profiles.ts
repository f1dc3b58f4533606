/** The profiles of all kinds at once, for programs that see any of them; one that sees a single kind uses loadProfile. */
import type { AgentKind } from "../protocol/names.ts";
import type { AgentProfile } from "./profile.ts";
import { AGENT_KINDS, loadProfile } from "./registry.ts";

const profiles = new Map(
  await Promise.all(AGENT_KINDS.map(async (kind) => [kind, await loadProfile(kind)] as const)),
);

export function agentProfile(kind: AgentKind): AgentProfile {
  const profile = profiles.get(kind);
  if (profile === undefined) {
    throw new TypeError(`Cannot find the profile of "${kind}": no such kind of agent.`);
  }
  return profile;
}
