/** Reads the tree's own source, for the tests that hold rules over it. */

export interface SourceFile {
  /** Relative to the checkout, with forward slashes. */
  path: string;
  text: string;
}

export const CHECKOUT: string = new URL("../../", import.meta.url).pathname;

/** Every file under `folder` (relative to the checkout) whose path satisfies `wanted`, sorted by path. */
export async function readSources(
  folder: string,
  wanted: (path: string) => boolean = (path) => /\.tsx?$/.test(path),
): Promise<SourceFile[]> {
  const found: SourceFile[] = [];
  for await (const entry of Deno.readDir(CHECKOUT + folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory && entry.name !== "node_modules") found.push(...await readSources(path, wanted));
    if (entry.isFile && wanted(path)) found.push({ path, text: await Deno.readTextFile(CHECKOUT + path) });
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}
