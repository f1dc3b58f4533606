/** A temporary `~/.svc` on the real disk. */
import { runtime } from "#runtime";
import { type HomePaths, homePaths } from "../../src/home/paths.ts";
import type { Files } from "../../src/runtime/types.ts";

export interface TempHome extends AsyncDisposable {
  /** The parent of `~/.svc`. */
  directory: string;
  paths: HomePaths;
  files: Files;
}

export async function makeTempHome(): Promise<TempHome> {
  const directory = await Deno.makeTempDir({ prefix: "svc-home-" });
  const paths = await homePaths({
    homeDirectory: directory,
    cwd: directory,
    uid: runtime.uid,
  });
  await Deno.mkdir(paths.root, { mode: 0o700 });
  return {
    directory,
    paths,
    files: runtime.files,
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}
