/** Keeps `~/.svc` private: directories 0700, files 0600, looser modes corrected. */
import { folderOf, strangerAt } from "../runtime/system.ts";
import type { Files } from "../runtime/types.ts";
import type { HomePaths } from "./paths.ts";

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;

/**
 * Creates the directories, corrects loose modes, and returns the corrected paths. Throws when a directory belongs to
 * another user, or is not svc's.
 */
export async function secureHome(files: Files, home: { paths: HomePaths; uid: number }): Promise<string[]> {
  const { paths, uid } = home;
  await checkHome(files, paths);
  for (const directory of [paths.root, paths.markers, folderOf(paths.socket)]) {
    const isOurs = directory !== paths.markers || (await files.info(directory))?.isDirectory !== false;
    if (isOurs) await files.makeDirectory(directory, { mode: DIRECTORY_MODE });
    await checkOwner(files, directory, uid);
  }
  const loose = await looseEntries(files, paths);
  for (const { path, wanted } of loose) await correct(files, path, wanted);
  return loose.map(({ path }) => path);
}

/** The file may disappear between the check and the change. */
async function correct(files: Files, path: string, mode: number): Promise<void> {
  try {
    await files.chmod(path, mode);
  } catch (error) {
    if (await files.info(path)) throw error;
  }
}

/** What `~/.svc` holds that no path of HomePaths names. */
const OTHER_NAMES: readonly string[] = ["server", "package", "unpack.lock"];
const COMMON_FOLDERS: readonly string[] = ["bin", "package", "remote", "server", "setup", "uploads"];
/** Common names, which do not show that a directory is svc's beside other files. */
const COMMON_NAMES: readonly string[] = [...COMMON_FOLDERS, "config.json"];

function isOfSvc(name: string, paths: HomePaths): boolean {
  const inRoot = Object.values(paths).flatMap((path: string) =>
    path.startsWith(`${paths.root}/`) ? [path.slice(paths.root.length + 1).split("/")[0] ?? ""] : []
  );
  if ([...inRoot, ...OTHER_NAMES].includes(name) || /^service-\w+\.log/.test(name)) return true;
  // Rotated, damaged and half-written files begin with the name of their file.
  return inRoot.some((known) => !COMMON_FOLDERS.includes(known) && name.startsWith(`${known}.`));
}

/** True if only svc gives a file such a name. Commands make locks and logs before they have checked the directory. */
function isSign(name: string): boolean {
  return !COMMON_NAMES.includes(name) && !/\.(?:lock|log)(?:\.|$)/.test(name);
}

function isNamedSvc({ root }: Pick<HomePaths, "root">): boolean {
  return root.endsWith("/.svc");
}

/** Creates `~/.svc`. Throws as `checkHome` does. */
export async function makeHome(
  files: Pick<Files, "info" | "list" | "makeDirectory">,
  paths: HomePaths,
): Promise<void> {
  await checkHome(files, paths);
  await files.makeDirectory(paths.root, { mode: DIRECTORY_MODE });
}

/**
 * Throws Error for a directory of other files: a mistyped SVC_HOME would make them private and not executable. One named
 * `.svc` is svc's, whatever is left in it.
 */
export async function checkHome(files: Pick<Files, "info" | "list">, paths: HomePaths): Promise<void> {
  const { root } = paths;
  if (isNamedSvc(paths) || !(await files.info(root))?.isDirectory) return;
  const names = (await files.list(root)).filter((name) => !name.startsWith(".") && name !== "lost+found");
  const known = names.filter((name) => isOfSvc(name, paths));
  const isSvcs = known.length === names.length || known.some(isSign);
  if (root !== "/" && isSvcs) return;
  throw new Error(
    `Cannot use "${root}" as svc's folder: it has other files. Set SVC_HOME to a new or empty directory, such as "${
      root === "/" ? "" : root
    }/.svc".`,
  );
}

/** The paths that others may read or write, with the mode they should have. */
export async function looseEntries(
  files: Files,
  paths: HomePaths,
): Promise<{ path: string; wanted: number }[]> {
  const isAllOurs = isNamedSvc(paths);
  const names = (await files.list(paths.root)).filter((name) => isAllOurs || isOfSvc(name, paths));
  const candidates = [paths.root, folderOf(paths.socket), ...names.map((name) => `${paths.root}/${name}`)];
  const loose: { path: string; wanted: number }[] = [];
  for (const path of new Set(candidates)) {
    const info = await files.info(path);
    if (info === undefined || (info.mode & OTHERS) === 0) continue;
    loose.push({ path, wanted: info.isDirectory ? DIRECTORY_MODE : FILE_MODE });
  }
  return loose;
}

/** A directory or link that another user created first would give them the control socket. */
async function checkOwner(files: Files, directory: string, uid: number): Promise<void> {
  const stranger = await strangerAt(directory, { files, uid });
  if (stranger === undefined) return;
  throw new Error(
    `Cannot use "${directory}": it belongs to user ${stranger}, not to ${uid}. Set SVC_HOME to a directory of your own.`,
  );
}
