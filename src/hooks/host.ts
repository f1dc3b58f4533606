/** What the hooks need of the machine, and what they were called with. */
import type { AgentHooks, HookInput } from "../agents/hooks.ts";
import type { HookReport } from "../home/control_messages.ts";
import type { HomePaths } from "../home/paths.ts";
import type { AgentKind } from "../protocol/names.ts";
import type { Files, LocalSockets } from "../runtime/types.ts";

export interface HookHost {
  files: Files;
  sockets: Pick<LocalSockets, "connect">;
  paths: HomePaths;
  /** Epoch milliseconds. */
  now(): number;
  /** `SVC_SESSION`: the session in which svc started the agent. */
  session: string | undefined;
  /** `TMUX_PANE`: the pane in which the agent runs, `%<n>`. */
  pane: string | undefined;
  /** The registration that ran this hook has the agent ask at the gate before each tool call. */
  gates: boolean;
  /** Gives the text to the agent. */
  print(text: string): void;
}

export interface HookCall {
  kind: AgentKind;
  hooks: AgentHooks;
  /** The agent's name for it. */
  event: string;
  input: HookInput;
}

/** Called before the agent's input is there, to begin what does not depend on it; the answer takes the call. */
export type Hook = (host: HookHost) => (call: HookCall) => Promise<void>;

/** What every report says: whose it is. */
export function reportOf(host: HookHost, { event, kind }: HookCall, directory: string): HookReport {
  const { session, pane, gates } = host;
  return { event, agent: kind, cwd: directory, session, pane, ...(gates ? { gates } : {}) };
}
