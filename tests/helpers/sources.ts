/** Reads the checkout's own source and documents, for the tests that enforce rules on them. */
import { fileURLToPath } from "node:url";

export interface SourceFile {
  /** The path in the checkout, with forward slashes. */
  path: string;
  text: string;
}

export const CHECKOUT: string = fileURLToPath(new URL("../../", import.meta.url));

/** Returns every file under `folder` (relative to the checkout) whose path matches `wanted`, sorted by path. */
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

const TOP_PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

/** Returns the documents: the pages at the top of the checkout and everything under `docs`. */
export async function readPages(): Promise<SourceFile[]> {
  const top = TOP_PAGES.map(async (path) => ({ path, text: await Deno.readTextFile(CHECKOUT + path) }));
  return [...await Promise.all(top), ...await readSources("docs", (path) => path.endsWith(".md"))];
}
