/** What the daemon's life cycle and the listener in it ask of each other. */
import type { Config } from "../home/config.ts";
import type { DaemonStatus, HookReport } from "../home/control_messages.ts";
import type { HomePaths } from "../home/paths.ts";

/** The listener's own part of the daemon's status. Fields beyond these are passed on. */
export type ListenerStatus = Pick<DaemonStatus, "connected" | "sessions"> & Record<string, unknown>;

/** A listener at work. */
export interface RunningListener {
  status(): ListenerStatus;
  /** An agent's hook reported. Must not throw. */
  hook(report: HookReport): void;
  /** A tool call is about to begin: resolves once no input is on its way into the agent's pane. Must not throw. */
  gate(report: HookReport): Promise<void>;
  /** A session began: reads the inventory now. Must not throw. */
  look(): void;
  /** A phone was revoked: ends its streams. Must not throw. */
  forget(phone: string): void;
  /** Takes nothing more, finishes the injection in hand, closes every connection and timer. */
  stop(): Promise<void>;
}

/** What a listener is started with. */
export interface ListenerOptions {
  paths: HomePaths;
  config: Config;
  wsUrl: string;
  apiKey: string;
  version: string;
  env: Readonly<Record<string, string>>;
  /**
   * Writes one line to listener.log. `[<time>] ` is put before it, unless it begins with `! `: the failure line of the
   * spec (section 6) has no time.
   */
  log(line: string): void;
}

/** Resolves once the timers run and the connection is being made; it need not be open. */
export type StartListener = (options: ListenerOptions) => Promise<RunningListener>;
