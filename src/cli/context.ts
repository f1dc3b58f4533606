/** What commands need from this process: its paths, the parts of svc other than code, and access to the listener. */
import { runtime } from "#runtime";
import { systemClock } from "../async/clock.ts";
import type { DaemonHost, DaemonOptions } from "../home/daemon.ts";
import { type HomePaths, homePaths, withAbsolutePlaces } from "../home/paths.ts";
import { VERSION } from "../protocol/version.ts";

export function accountPaths(svcHome: string | undefined = runtime.env.get("SVC_HOME")): Promise<HomePaths> {
  return homePaths({
    svcHome,
    homeDirectory: runtime.homeDirectory(),
    cwd: workingDirectory(),
    uid: runtime.uid,
  });
}

/** The current directory; `/` if it was deleted, so that `svc mcp` keeps working. */
export function workingDirectory(): string {
  try {
    return runtime.cwd();
  } catch {
    return "/";
  }
}

/** This process's environment, for processes that work in other folders. */
export function ownEnvironment(): Record<string, string> {
  return withAbsolutePlaces(runtime.env.all(), workingDirectory());
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
    env: ownEnvironment(),
    wsUrl: options.wsUrl,
  };
}

/** The built phone app; undefined when it was not built. */
export async function phoneDirectory(): Promise<string | undefined> {
  const folder = await findPart("dist/phone", "index.html");
  return folder === undefined ? undefined : `${folder}/`;
}

/** The plugin's folder, an absolute path without a trailing slash. Throws when it is missing. */
export async function pluginDirectory(): Promise<string> {
  const folder = await findPart("plugin", ".claude-plugin/marketplace.json");
  if (folder !== undefined) return folder;
  throw new Error(`Cannot find the folder "plugin" of this svc: install svc again.`);
}

/** A folder next to this code, or one that a single-file program has unpacked. */
async function findPart(part: string, file: string): Promise<string | undefined> {
  const embedded = runtime.embedded();
  if (embedded !== undefined) {
    const { unpack } = await import("./unpack.ts");
    return `${await unpack(embedded, { files: runtime.files, root: (await accountPaths()).root })}/${part}`;
  }
  for (const place of [`./${part}`, `../../${part}`]) {
    const folder = decodeURIComponent(new URL(place, import.meta.url).pathname);
    if (await runtime.files.info(`${folder}/${file}`)) return folder;
  }
  return undefined;
}
