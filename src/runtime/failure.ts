/** Reads the system's error code from whatever was thrown. */

/** `ENOENT`, `EACCES` and the like, or undefined for an error that is not the system's. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Awaits `work`; gives `instead` when it fails with one of `codes`, and throws every other failure. */
export async function unless<T, U>(
  codes: readonly string[],
  work: Promise<T>,
  instead: U,
): Promise<T | U> {
  try {
    return await work;
  } catch (error) {
    if (codes.includes(codeOf(error) ?? "")) return instead;
    throw error;
  }
}

/** A path with no file behind it, also because a part of it is a file. */
export const MISSING: readonly string[] = ["ENOENT", "ENOTDIR"];

/** No socket, one whose owner is gone, and one whose owner is just going. */
export const NOBODY_LISTENS: readonly string[] = [...MISSING, "ECONNREFUSED", "ECONNRESET"];
