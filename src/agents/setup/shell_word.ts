/** Words of a POSIX shell. */

/** The word as one word, whatever is in it: in single quotes. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
