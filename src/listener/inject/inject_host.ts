/** What an injection needs from the world: small effects, bound to the real ones in `listener.ts`. */
import type { TmuxServer } from "../../tmux/server.ts";
import type { ProcessFacts } from "./guard.ts";
import type { Progress } from "./outcome.ts";
import type { PaneInput } from "./pane_input.ts";
import type { Policy } from "./policy.ts";
import type { Resolved, Target } from "../targets.ts";

/** A message to type. `expiresAt` is in this host's epoch milliseconds. */
export interface Command {
  id: string;
  session: string;
  body: string;
  expiresAt: number;
  /** Type even while the local user is typing or has left a draft. */
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
  /** What svc types into this pane, for messages and keys together. */
  input(target: Target): PaneInput;
  processFacts(pid: number): Promise<ProcessFacts>;
  /** A process of this tree is running right now, or waits for a processor: it may not have read its input. */
  isBusy(pid: number): Promise<boolean>;
  /** The person has silenced the project in this directory. */
  isMuted(directory: string): Promise<boolean>;
  /** Whole seconds to wait, 0 when a token was taken. */
  takeToken(session: string): number;
  writeMarker(directory: string, body: string): Promise<WrittenMarker>;
  /** Durable before it resolves. */
  record(id: string, step: "accepted" | "typing" | "typed"): Promise<void>;
  report(id: string, progress: Progress): void;
  /** Something was typed: the session's state will change. */
  typed(): void;
  policy: Policy;
}

/** One message on its way into one pane. */
export interface Attempt {
  command: Command;
  target: Target;
  server: TmuxServer;
  input: PaneInput;
  host: InjectHost;
}

/** What a look at a pane and its guard need. */
export interface PaneContext extends Pick<Attempt, "target" | "server" | "input"> {
  host: Pick<InjectHost, "processFacts" | "policy">;
}
