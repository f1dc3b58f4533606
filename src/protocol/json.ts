/** Parses JSON from a peer without throwing, with a depth limit because re-encoding is recursive. */
import { JSON_MAX_DEPTH } from "./limits.ts";

/** Returns the value, or undefined when the text is not JSON or is nested deeper than `JSON_MAX_DEPTH`. */
export function parseJson(text: string): { value: unknown } | undefined {
  // Checked before parsing, because a text of nothing but brackets takes a hundred times longer to parse than others.
  if (!isTextNestedAtMost(text, JSON_MAX_DEPTH)) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** `[` and `]`, `{` and `}`. */
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** True when at most `levels` brackets outside of strings are open at a time, in a text that may not be JSON. */
function isTextNestedAtMost(text: string, levels: number): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === ARRAY || code === OBJECT) {
      if (++open > levels) return false;
    } else if (code === ARRAY_END || code === OBJECT_END) open--;
  }
  return true;
}

/** Returns the index of the closing quote of the string that begins at `start`, or the length of the text. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    const isEscaped = (at - before) % 2 === 0;
    if (!isEscaped) return at;
  }
  return text.length;
}

/** True when arrays and objects in `value` are nested at most `levels` deep; a scalar has depth 0. */
export function isNestedAtMost(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isNestedAtMost(inner, levels - 1));
}
