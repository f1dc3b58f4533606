/** Reads files of `~/.svc` that may be damaged, and moves damaged ones out of the way. */
import type { Files } from "../runtime/types.ts";

/** Reads a state file. A folder in its place reads as an empty text, which no state file is: it counts as damaged. */
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

/** The path at which a damaged file is kept. */
export function asideOf(path: string): string {
  return `${path}.damaged`;
}

/** Writes a damaged text to `<path>.damaged`, replacing an earlier one; returns that path. */
export async function keepAside(
  files: Files,
  { path, text }: { path: string; text: string },
): Promise<string> {
  const aside = asideOf(path);
  await files.remove(aside, { recursive: true });
  await files.writeText(aside, text, { mode: 0o600 });
  return aside;
}

/** Renames the file to `<path>.damaged`, replacing an earlier one; returns that path. */
export async function moveAside(files: Pick<Files, "remove" | "rename">, path: string): Promise<string> {
  const aside = asideOf(path);
  await files.remove(aside, { recursive: true });
  await files.rename(path, aside);
  return aside;
}
