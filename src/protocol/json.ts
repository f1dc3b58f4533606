/** Parses JSON from a peer without throwing, with a depth limit because re-encoding is recursive. */
import { JSON_MAX_DEPTH } from "./limits.ts";

/** The value, or undefined when the text is not JSON or is nested deeper than `JSON_MAX_DEPTH`. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isNestedAtMost(value, JSON_MAX_DEPTH) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

/** True when arrays and objects in `value` are nested at most `levels` deep; a scalar has depth 0. */
export function isNestedAtMost(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isNestedAtMost(inner, levels - 1));
}
