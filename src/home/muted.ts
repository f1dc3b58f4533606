/** The projects that `svc mute` or a phone silenced, by directory. */
import { parseJson } from "../protocol/json.ts";
import type { Files } from "../runtime/types.ts";
import { withLock } from "./lock.ts";
import type { HomePaths } from "./paths.ts";

/** Real paths of directories. */
export interface Muted {
  directories: string[];
  /** Those of them that a phone muted, so that a phone may unmute them. */
  byPhone: string[];
}

/**
 * None when the file is missing or broken. Parsed by hand: a hook reads it at every prompt, and loading a schema would cost
 * more than all its other work.
 */
export async function readMuted(files: Pick<Files, "readText">, paths: HomePaths): Promise<Muted> {
  const file = parseJson(await files.readText(paths.muted) ?? "")?.value;
  if (typeof file !== "object" || file === null) return { directories: [], byPhone: [] };
  const directories = "directories" in file ? texts(file.directories) : [];
  const byPhone = "byPhone" in file ? texts(file.byPhone) : [];
  return { directories, byPhone: byPhone.filter((one) => directories.includes(one)) };
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
}

export async function loadMuted(files: Pick<Files, "readText">, paths: HomePaths): Promise<string[]> {
  return (await readMuted(files, paths)).directories;
}

/** Muting a directory mutes everything below it. `directory` must be a real path. */
export function isMuted(muted: readonly string[], directory: string): boolean {
  return muted.some((one) => covers(one, directory));
}

export function covers(muted: string, directory: string): boolean {
  return directory === muted || directory.startsWith(muted === "/" ? "/" : `${muted}/`);
}

/**
 * Mutes or unmutes for the local user; false when nothing changed. What the local user mutes, no phone can unmute.
 * `directory` must be a real path.
 */
export async function setMuted(
  files: Files,
  paths: HomePaths,
  { directory, muted }: { directory: string; muted: boolean },
): Promise<boolean> {
  return await changeMuted(files, paths, ({ directories, byPhone }) => {
    const others = directories.filter((one) => one !== directory);
    return {
      directories: muted ? [...others, directory].sort() : others,
      byPhone: byPhone.filter((one) => one !== directory),
    };
  });
}

/** True if the list of directories has changed. One process at a time: no change is lost. */
export async function changeMuted(
  files: Files,
  paths: HomePaths,
  edit: (before: Muted) => Muted,
): Promise<boolean> {
  await files.makeDirectory(paths.root, { mode: 0o700 });
  const busy = (): Error =>
    new Error(`Cannot change the muted projects: another svc holds "${paths.mutedLock}". Try again.`);
  const work = async (): Promise<boolean> => {
    const before = await readMuted(files, paths);
    const after = edit(before);
    if (JSON.stringify(after) === JSON.stringify(before)) return false;
    await files.replaceText(paths.muted, `${JSON.stringify(after, null, 2)}\n`, { mode: 0o600 });
    return after.directories.length !== before.directories.length;
  };
  return await withLock(files, paths.mutedLock, { busy, work });
}
