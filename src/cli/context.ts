/** What every command needs of this process: the paths in its home, the parts of svc that are not code, and the means to manage the listener. */
import { runtime } from "#runtime";
import { systemClock } from "../async/clock.ts";
import type { DaemonHost, DaemonOptions } from "../home/daemon.ts";
import { type HomePaths, homePaths } from "../home/paths.ts";
import { VERSION } from "../protocol/version.ts";

export function accountPaths(svcHome: string | undefined = runtime.env.get("SVC_HOME")): Promise<HomePaths> {
  return homePaths({
    svcHome,
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

/** The built phone app; undefined when it was not built. */
export async function phoneDirectory(): Promise<string | undefined> {
  for (const place of ["./dist/phone/", "../../dist/phone/"]) {
    const directory = new URL(place, import.meta.url).pathname;
    if (await runtime.files.info(`${directory}index.html`)) return directory;
  }
  return undefined;
}

/** The plugin's folder, an absolute path without a trailing slash. Throws when it is missing. */
export async function pluginDirectory(): Promise<string> {
  for (const place of ["./plugin/", "../../plugin/"]) {
    const directory = decodeURIComponent(new URL(place, import.meta.url).pathname).replace(/\/$/, "");
    if (await runtime.files.info(`${directory}/.claude-plugin/marketplace.json`)) return directory;
  }
  throw new Error(`Cannot find the folder "plugin" of this svc: install svc again.`);
}
