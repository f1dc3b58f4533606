/** The user's files: read exactly, written whole, with the directories that they need. */
import { decodeUtf8 } from "../../async/encodings.ts";
import type { Files } from "../../runtime/types.ts";

/** The text, byte for byte; undefined if there is no file. Throws if it is not UTF-8: it could not be written back. */
export async function readExactly(files: Files, path: string): Promise<string | undefined> {
  const bytes = await files.readBytes(path);
  if (bytes === undefined) return undefined;
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new Error("it is not UTF-8");
  return text;
}

/** The first path that exists; the first of all if none does. */
export async function pathInUse(files: Files, paths: readonly string[]): Promise<string> {
  for (const path of paths) if (await files.info(path)) return path;
  return paths[0] ?? "";
}

/** The topmost directory that is missing above the path; null if none is. */
export async function missingDirectory(files: Files, path: string): Promise<string | null> {
  const parent = parentOf(path);
  if (parent === "" || await files.info(parent)) return null;
  return await missingDirectory(files, parent) ?? parent;
}

export async function writeWhole(files: Files, path: string, text: string): Promise<void> {
  await files.makeDirectory(parentOf(path));
  const exists = await files.info(path) !== undefined;
  await files.replaceText(path, text, exists ? {} : { mode: 0o600 });
}

/** Removes the empty directories from the file's own up to `top`. */
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
