/** What an injection needs from the world: small effects, bound to the real ones in `listener.ts`. */
import type { TmuxServer } from "../tmux/server.ts";
import type { ProcessFacts } from "./guard.ts";
import type { Progress } from "./outcome.ts";
import type { Resolved, Target } from "./target.ts";

/** A message to type. `expiresAt` is in this host's epoch milliseconds. */
export interface Command {
  id: string;
  session: string;
  body: string;
  expiresAt: number;
  /** The sender was told that someone types at the desk, and sends all the same. */
  sendAnyway: boolean;
}

/** A marker on disk: the agent's prompt-submit hook takes it. */
export interface WrittenMarker {
  /** Removes it; false when the hook was faster. */
  withdraw(): Promise<boolean>;
  taken(): Promise<boolean>;
}

export interface InjectHost {
  now(): number;
  /** Resolves after `ms`, or earlier when a hook reported; throws Stopping when the daemon stops. */
  pause(ms: number): Promise<void>;
  resolve(name: string): Promise<Resolved>;
  server(target: Target): TmuxServer;
  processFacts(pid: number): Promise<ProcessFacts>;
  /** The person has silenced the project in this directory. */
  isMuted(directory: string): Promise<boolean>;
  /** Whole seconds to wait, 0 when a token was taken. */
  takeToken(session: string): number;
  writeMarker(directory: string, body: string): Promise<WrittenMarker>;
  /** Durable before it resolves. */
  record(id: string, step: "accepted" | "typing" | "typed"): Promise<void>;
  report(id: string, progress: Progress): void;
  policy: { allowShellEscape: boolean; allowRemoteApproval: boolean };
}

/** One message on its way into one pane. */
export interface Attempt {
  command: Command;
  target: Target;
  server: TmuxServer;
  host: InjectHost;
}

/** What a look at a pane and its guard need. */
export interface Sight extends Pick<Attempt, "target" | "server"> {
  host: Pick<InjectHost, "processFacts" | "policy">;
}
