/** The home and temporary directories from the environment, the same on every runtime. */

/** @throws when HOME is unset or not absolute: guessing could write keys to the wrong place. */
export function homeFrom(home: string | undefined): string {
  if (home?.startsWith("/")) return home;
  throw new Error(
    `cannot find the home directory: HOME is ${JSON.stringify(home ?? null)}; set it to an absolute path`,
  );
}

/** The directory without its trailing slash (macOS sets one in TMPDIR). */
export function temporaryFrom(tmpdir: string | undefined): string {
  return tmpdir?.startsWith("/") ? tmpdir.replace(/(?<=.)\/+$/, "") : "/tmp";
}
