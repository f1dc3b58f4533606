/** Runs `svc setup` in a temporary home. */
import { runtime } from "#runtime";
import {
  type AgentReport,
  installAgent,
  removeAgent,
  type SetupHost,
} from "../../src/hooks/setup/install.ts";
import { Manifest } from "../../src/hooks/setup/home_files.ts";
import type { AgentKind } from "../../src/protocol/names.ts";
import { CHECKOUT } from "./sources.ts";
import { makeTempHome } from "./temp_home.ts";

export interface SetupBench extends AsyncDisposable {
  host: SetupHost;
  /** The user's home. */
  home: string;
  install(kind: AgentKind, options?: { dryRun?: boolean }): Promise<AgentReport>;
  remove(kind: AgentKind, options?: { dryRun?: boolean }): Promise<AgentReport>;
  write(path: string, text: string): Promise<void>;
  /** Resolves with every file of the home except svc's, by its path under the home. */
  tree(): Promise<Record<string, string>>;
  /** Resolves with every file under `~/.svc`, by its path under it. */
  own(): Promise<string[]>;
}

/** Makes a bench where no agent is installed, so that none is run. */
export async function makeSetupBench(): Promise<SetupBench> {
  const temp = await makeTempHome();
  const home = temp.directory;
  const { files, commands } = runtime;
  const host: SetupHost = {
    files,
    commands: { ...commands, which: () => Promise.resolve(undefined) },
    paths: temp.paths,
    env: {},
    home,
    plugin: `${CHECKOUT}plugin`,
  };
  const options = async (given: { dryRun?: boolean } = {}) => ({
    manifest: await Manifest.open(host.files, temp.paths),
    dryRun: given.dryRun ?? false,
  });
  return {
    host,
    home,
    install: async (kind, given) => await installAgent(host, kind, await options(given)),
    remove: async (kind, given) => await removeAgent(host, kind, await options(given)),
    async write(path, text) {
      await Deno.mkdir(`${home}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${home}/${path}`, text);
    },
    async tree() {
      const found: Record<string, string> = {};
      for await (const path of walk(home)) {
        if (!path.startsWith("/.svc")) {
          found[path] = path.endsWith("/") ? "" : await Deno.readTextFile(home + path);
        }
      }
      return found;
    },
    own: async () => (await Array.fromAsync(walk(temp.paths.root))).sort(),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

async function* walk(root: string, below = ""): AsyncIterable<string> {
  for await (const { name, isDirectory } of Deno.readDir(root + below)) {
    const path = `${below}/${name}`;
    yield isDirectory ? `${path}/` : path;
    if (isDirectory) yield* walk(root, path);
  }
}
