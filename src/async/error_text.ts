/** The text to print for a caught value. */

/** The message of an Error, or the value itself as text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
