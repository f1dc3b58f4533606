/** Matches a prompt that an agent joined from queued messages with blank lines between them. */

/** An outstanding text, known only by its digest and its length in characters. */
export interface KnownText {
  sha256: string;
  length: number;
}

/** Blank lines, and the blanks that an agent left at the ends of the parts. */
const GAP = /\s*\n\s*\n\s*/y;
/** A prompt that needs more comparisons than this is taken for no match. */
export const COMPARISONS_MAX = 2_000;

/**
 * The texts, in their order and two at least, whose join is exactly `prompt` (in canonical form); undefined when there
 * are none. As lengths are known, each text has one place to be compared at, and no text need be stored.
 */
export async function matchJoin<T extends KnownText>(
  prompt: string,
  texts: readonly T[],
  digest: (text: string) => Promise<string>,
): Promise<T[] | undefined> {
  let comparisons = 0;

  async function matchFrom(start: number, index: number): Promise<T[] | undefined> {
    for (const [offset, text] of texts.slice(index).entries()) {
      const end = start + text.length;
      if (end > prompt.length) continue;
      if (++comparisons > COMPARISONS_MAX) return undefined;
      if (await digest(prompt.slice(start, end)) !== text.sha256) continue;
      if (end === prompt.length) return [text];
      const next = gapEnd(prompt, end);
      const rest = next === undefined ? undefined : await matchFrom(next, index + offset + 1);
      if (rest !== undefined) return [text, ...rest];
    }
    return undefined;
  }

  const found = await matchFrom(0, 0);
  return found !== undefined && found.length > 1 ? found : undefined;
}

function gapEnd(prompt: string, start: number): number | undefined {
  GAP.lastIndex = start;
  return GAP.test(prompt) ? GAP.lastIndex : undefined;
}
