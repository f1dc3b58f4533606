/** What stands in the place of a file of `~/.svc`: how it is read, and how it is moved out of the way. */
import type { Files } from "../runtime/types.ts";

/** A folder in the place of a file reads as an empty text, which no state file is: it counts as damaged. */
export async function readStateText(
  files: Pick<Files, "readText">,
  path: string,
): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EISDIR") return "";
    throw error;
  }
}

/** Where what was damaged is kept. */
export function asideOf(path: string): string {
  return `${path}.damaged`;
}

/** Keeps a damaged text beside its file, in place of what was kept there before; returns the path. */
export async function keepAside(
  files: Files,
  { path, text }: { path: string; text: string },
): Promise<string> {
  const aside = asideOf(path);
  await files.remove(aside, { recursive: true });
  await files.writeText(aside, text, { mode: 0o600 });
  return aside;
}

/** Renames it to `<path>.damaged`, in place of what was moved there before; returns that path. */
export async function moveAside(files: Pick<Files, "remove" | "rename">, path: string): Promise<string> {
  const aside = asideOf(path);
  await files.remove(aside, { recursive: true });
  await files.rename(path, aside);
  return aside;
}
