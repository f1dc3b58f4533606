/** What a wrapper run needs: of the machine, and of the command line. */
import type { AgentProfile } from "../agents/profile.ts";
import type { Clock } from "../async/clock.ts";
import type { DaemonOptions } from "../home/start_daemon.ts";
import type { Runtime } from "../runtime/types.ts";

export interface WrapperHost
  extends Pick<Runtime, "uid" | "files" | "commands" | "sockets" | "terminal" | "selfCommand"> {
  clock: Clock;
}

export interface WrapperRun extends DaemonOptions {
  profile: AgentProfile;
  /** The words after the agent's name, for the agent alone. */
  args: readonly string[];
  /** Start it and print the session's name, without attaching. */
  detach: boolean;
  /** The listener waits for this run: it must not be replaced meanwhile. */
  byListener?: boolean;
  cwd: string;
}
