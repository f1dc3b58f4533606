/** Errors of the operating system: their codes, and which of them are expected. */

/** A code such as `ENOENT` or `EACCES`; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The result of `work`, or `instead` when it fails with one of `codes`. Throws any other failure. */
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

/** There is no file at the path, or a part of the path is not a directory. */
export const MISSING: readonly string[] = ["ENOENT", "ENOTDIR"];

/** There is no socket, its owner is gone, or its owner is just exiting. */
export const NOBODY_LISTENS: readonly string[] = [...MISSING, "ECONNREFUSED", "ECONNRESET"];
