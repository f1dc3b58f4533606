/** Files that are the person's: read exactly, written whole, with the directories they need. */
import type { Files } from "../../runtime/types.ts";

/** The text, byte for byte; undefined without the file. Throws when it is no UTF-8: it could not be written back. */
export async function readExactly(files: Files, path: string): Promise<string | undefined> {
  const bytes = await files.readBytes(path);
  if (bytes === undefined) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error("it is not UTF-8");
  }
}

/** The first of the paths that is there, else the first. */
export async function pathInUse(files: Files, paths: readonly string[]): Promise<string> {
  for (const path of paths) if (await files.info(path)) return path;
  return paths[0] ?? "";
}

/** The topmost directory that is missing above the path; null when none is. */
export async function missingDirectory(files: Files, path: string): Promise<string | null> {
  const parent = parentOf(path);
  if (parent === "" || await files.info(parent)) return null;
  return await missingDirectory(files, parent) ?? parent;
}

export async function writeWhole(files: Files, path: string, text: string): Promise<void> {
  await files.makeDirectory(parentOf(path));
  const isThere = await files.info(path) !== undefined;
  await files.replaceText(path, text, isThere ? {} : { mode: 0o600 });
}

/** Removes the directories from the file's own up to `top`, as far as nothing else is in them. */
export async function removeMade(files: Files, path: string, top: string): Promise<void> {
  const parent = parentOf(path);
  const isWithin = parent === top || parent.startsWith(`${top}/`);
  if (!isWithin || (await files.list(parent)).length > 0) return;
  await files.remove(parent, { recursive: true });
  await removeMade(files, parent, top);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
