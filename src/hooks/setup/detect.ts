/** Which agents are there. */
import { agentProfile } from "../../agents/profiles.ts";
import type { AgentKind } from "../../protocol/names.ts";
import { setupOf } from "./install.ts";
import type { SetupHost } from "./types.ts";

/** The program is on PATH, or the agent's editor has left its directory. */
export async function isThere(host: SetupHost, kind: AgentKind): Promise<boolean> {
  if (await host.commands.which(agentProfile(kind).binary) !== undefined) return true;
  const { trace } = await setupOf(host, kind);
  return trace !== undefined && await host.files.info(trace) !== undefined;
}
