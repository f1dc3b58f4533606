/** The projects that `svc mute` silenced, by directory. */
import { parseJson } from "../protocol/json.ts";
import type { Files } from "../runtime/types.ts";
import type { HomePaths } from "./paths.ts";

/**
 * Real paths of the muted directories; none when the file is missing or broken. Parsed by hand: a hook reads it at every
 * prompt, and loading a schema would cost more than all its other work.
 */
export async function loadMuted(files: Pick<Files, "readText">, paths: HomePaths): Promise<string[]> {
  const list = parseJson(await files.readText(paths.muted) ?? "")?.value;
  const directories = typeof list === "object" && list !== null && "directories" in list && list.directories;
  return Array.isArray(directories) ? directories.filter((one) => typeof one === "string") : [];
}

/** Muting a directory mutes everything below it. `directory` must be a real path. */
export function isMuted(muted: readonly string[], directory: string): boolean {
  return muted.some((one) => directory === one || directory.startsWith(one === "/" ? "/" : `${one}/`));
}

/** Mutes or unmutes; false when nothing changed. `directory` must be a real path. */
export async function setMuted(
  files: Files,
  paths: HomePaths,
  change: { directory: string; muted: boolean },
): Promise<boolean> {
  const before = await loadMuted(files, paths);
  if (before.includes(change.directory) === change.muted) return false;
  const others = before.filter((one) => one !== change.directory);
  const directories = change.muted ? [...others, change.directory].sort() : others;
  await files.makeDirectory(paths.root, { mode: 0o700 });
  await files.replaceText(paths.muted, `${JSON.stringify({ directories }, null, 2)}\n`, { mode: 0o600 });
  return true;
}
