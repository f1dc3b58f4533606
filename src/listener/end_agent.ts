/** Ends an agent that svc started, for a phone that saw this very session, where the host allows it. */
import { runtime } from "#runtime";
import { systemClock, waitFor } from "../async/clock.ts";
import type { Push } from "../protocol/push.ts";
import type { Reason } from "../protocol/receipt.ts";
import { verbs } from "../tmux/argv.ts";
import { endLeftovers, processIdentity } from "../tmux/leftovers.ts";
import { TmuxError } from "../tmux/server.ts";
import { type Outcome, refused } from "./inject/context.ts";
import { resolveTarget, type Target, type Targets } from "./targets.ts";

/** The body: the session's `createdAt` distinguishes it from a later one of the same name. */
const END = /^end (\d{1,16})$/;
/** Agents save their conversation when their terminal hangs up. */
const EXIT_LIMIT_MS = 5_000;
const PROBE_MS = 100;

export interface EndOptions extends EndEffects {
  /** The host's `allowAgentEnd`. */
  allowed: boolean;
  targets: Pick<Targets, "sessions" | "anyServer">;
  isMuted(directory: string): Promise<boolean>;
  /** Written before the agent may end. */
  record(id: string, step: "typing"): Promise<void>;
  /** Called when the agent may have ended. */
  ended(): void;
}

/** Replaced by tests. */
export interface EndEffects {
  identity(pid: number): Promise<string>;
  /** Waits for the end of a process; false if that takes too long. */
  exits(pid: number): Promise<boolean>;
  /** Ends what ignored that its terminal was closed. */
  endLeftovers(pane: { pid: number; identity: string }): Promise<void>;
}

export function endEffects(): EndEffects {
  const host = { commands: runtime.commands, clock: systemClock };
  const limits = { clock: systemClock, limitMs: EXIT_LIMIT_MS, everyMs: PROBE_MS };
  return {
    identity: (pid) => processIdentity(host, pid),
    exits: async (pid) =>
      await waitFor(() => Promise.resolve(host.commands.kill(pid, 0) ? undefined : true), limits) === true,
    endLeftovers: (pane) => endLeftovers(host, pane),
  };
}

/** `submitted`: the agent's process is gone. Throws what `record` throws. */
export async function endAgent(push: Push, options: EndOptions): Promise<Outcome> {
  const { allowed, targets, exits } = options;
  const [, createdAt] = END.exec(push.body ?? "") ?? [];
  if (createdAt === undefined) return refused("invalid_body");
  if (!allowed) return refused("end_not_allowed");
  const found = await findAgent(push.agentSessionName ?? "", { createdAt: Number(createdAt), options });
  if (typeof found === "string") return refused(found);
  const { socket, pane, panePid: pid } = found;
  const identity = await options.identity(pid);
  await options.record(push.id, "typing");
  // Only while the agent is the pane's process. Other panes of the session stay.
  const close = verbs.ifFormat(pane, `#{==:#{pane_pid},${pid}}`, { then: [verbs.killPane(pane)] });
  await targets.anyServer(socket).run(close).catch(ignoreTmux);
  if (!await exits(pid)) await options.endLeftovers({ pid, identity });
  const outcome: Outcome = await exits(pid) ? { state: "submitted" } : refused("end_failed");
  options.ended();
  return { ...outcome, pane };
}

async function findAgent(
  name: string,
  { createdAt, options: { targets, isMuted } }: { createdAt: number; options: EndOptions },
): Promise<Target | Reason> {
  const sessions = await targets.sessions();
  const resolved = resolveTarget(name, sessions);
  if (resolved.kind === "refused") return resolved.reason;
  const { target } = resolved;
  const session = sessions.find(({ socket, id }) => socket === target.socket && id === target.sessionId);
  if (session === undefined || session.recorded.agent === "") return "not_started_by_svc";
  if (session.created * 1_000 !== createdAt) return "session_changed";
  if (target.recordedPid !== target.panePid) return "shell_in_pane";
  return await isMuted(session.recorded.directory) ? "muted" : target;
}

/** The connection may have been one to this session. The process shows what happened. */
function ignoreTmux(error: unknown): void {
  if (!(error instanceof TmuxError)) throw error;
}
