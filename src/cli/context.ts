/** What every command needs of this process: the paths in its home, and the means to manage the listener. */
import { runtime } from "#runtime";
import { systemClock } from "../async/clock.ts";
import type { DaemonHost, DaemonOptions } from "../home/daemon.ts";
import { type HomePaths, homePaths } from "../home/paths.ts";
import { VERSION } from "../protocol/version.ts";

export function accountPaths(): Promise<HomePaths> {
  return homePaths({
    svcHome: runtime.env.get("SVC_HOME"),
    homeDirectory: runtime.homeDirectory(),
    cwd: runtime.cwd(),
    temporaryDirectory: runtime.temporaryDirectory(),
    uid: runtime.uid,
  });
}

export function daemonHost(): DaemonHost {
  const { files, commands, sockets } = runtime;
  return { files, commands, sockets, clock: systemClock };
}

/** The daemon of this account, on the installed version. */
export function daemonOptions(paths: HomePaths, options: { wsUrl?: string | undefined } = {}): DaemonOptions {
  return {
    paths,
    version: VERSION,
    selfCommand: runtime.selfCommand(),
    env: runtime.env.all(),
    wsUrl: options.wsUrl,
  };
}
