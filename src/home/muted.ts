/** The projects that `svc mute` or a phone silenced, by directory. */
import { parseJson } from "../protocol/json.ts";
import type { Files } from "../runtime/types.ts";
import { readStateText } from "./damage.ts";
import { withLock } from "./lock.ts";
import type { HomePaths } from "./paths.ts";
import { makeHome } from "./permissions.ts";

/** Real paths of directories. */
export interface Muted {
  directories: string[];
  /** Those of them that a phone muted, so that a phone may unmute them. */
  byPhone: string[];
}

/** What a damaged file mutes, so that no muted project takes messages because of the damage. */
const EVERYTHING: Muted = { directories: ["/"], byPhone: [] };

/** Nothing is muted without the file, everything when it is damaged. */
export async function readMuted(files: Pick<Files, "readText">, paths: HomePaths): Promise<Muted> {
  return parseMuted(await readStateText(files, paths.muted)) ?? EVERYTHING;
}

/** Throws Error for a damaged file, so that no muted project is forgotten. */
export async function checkMuted(files: Pick<Files, "readText">, paths: HomePaths): Promise<Muted> {
  const muted = parseMuted(await readStateText(files, paths.muted));
  if (muted !== undefined) return muted;
  throw new Error(
    `Cannot read "${paths.muted}": it is damaged, and every project counts as muted. Remove it, and mute your projects again with svc mute.`,
  );
}

/**
 * Undefined for a damaged file. Parsed by hand: a hook reads it at every prompt, and loading a schema would cost more than
 * all its other work.
 */
function parseMuted(text: string | undefined): Muted | undefined {
  if (text === undefined) return { directories: [], byPhone: [] };
  const file = parseJson(text)?.value;
  if (typeof file !== "object" || file === null || !("directories" in file)) return undefined;
  const directories = texts(file.directories);
  const byPhone = "byPhone" in file ? texts(file.byPhone) : [];
  if (directories === undefined || byPhone === undefined) return undefined;
  return { directories, byPhone: byPhone.filter((one) => directories.includes(one)) };
}

function texts(list: unknown): string[] | undefined {
  return Array.isArray(list) && list.every((one) => typeof one === "string") ? list : undefined;
}

export async function loadMuted(files: Pick<Files, "readText">, paths: HomePaths): Promise<string[]> {
  return (await readMuted(files, paths)).directories;
}

/** True if one of these real paths is muted. Muting a directory mutes everything below it. */
export function isMuted(muted: readonly string[], ...directories: string[]): boolean {
  return muted.some((one) => directories.some((directory) => covers(one, directory)));
}

/** Like `isMuted`, for directories by any of their paths; an agent belongs to each of them. */
export async function isAnyMuted(
  files: Pick<Files, "readText" | "realPath">,
  paths: HomePaths,
  directories: readonly string[],
): Promise<boolean> {
  const muted = await loadMuted(files, paths);
  if (muted.length === 0) return false;
  return isMuted(
    muted,
    ...await Promise.all(directories.map(async (one) => await files.realPath(one) ?? one)),
  );
}

export function covers(muted: string, directory: string): boolean {
  return muted === "/" || directory === muted || directory.startsWith(`${muted}/`);
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
  await makeHome(files, paths);
  const busy = (): Error =>
    new Error(`Cannot change the muted projects: another svc holds "${paths.mutedLock}". Try again.`);
  const work = async (): Promise<boolean> => {
    const before = await checkMuted(files, paths);
    const after = edit(before);
    if (JSON.stringify(after) === JSON.stringify(before)) return false;
    await files.replaceText(paths.muted, `${JSON.stringify(after, null, 2)}\n`, { mode: 0o600 });
    return after.directories.length !== before.directories.length;
  };
  return await withLock(files, paths.mutedLock, { busy, work });
}
