/** Finds a program as a shell would. */

/** Absolute path of the first executable; a name with a slash is taken as it is, never searched. */
export async function findProgram(
  program: string,
  path: string | undefined,
  isExecutable: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  const folders = (path ?? "").split(":").filter((folder) => folder.startsWith("/"));
  const candidates = program.includes("/") ? [program] : folders.map((folder) => `${folder}/${program}`);
  for (const candidate of candidates) {
    if (program !== "" && await isExecutable(candidate)) return candidate;
  }
  return undefined;
}
