/** How many columns of a terminal text takes (UAX #11), as tmux counts them. */

const WIDE =
  /^(?!\p{RI})[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;
/** With the vowels and finals of Hangul, which join the letter before them. */
const NARROW = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7c6\ud7cb-\ud7fb]$/u;
/** Joins the character after it to the one before. */
const JOINER = "\u200d";

/** The first character that is not one column wide. */
const FIRST_OTHER = 0x300;

/** `before`: the character before it. */
function widthOf(character: string, before: string): 0 | 1 | 2 {
  if ((character.codePointAt(0) ?? 0) < FIRST_OTHER) return 1;
  if (before === JOINER || NARROW.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Columns that the text takes. */
export function columnsOf(text: string): number {
  let [columns, before] = [0, ""];
  for (const character of text) {
    columns += widthOf(character, before);
    before = character;
  }
  return columns;
}

/** The characters that begin in the columns `from` to `to`, from 0, without `to`; what combines with one stays with it. */
export function sliceColumns(text: string, from: number, to = Infinity): string {
  let [column, before, kept] = [0, "", ""];
  for (const character of text) {
    const width = widthOf(character, before);
    // A combining character is in the column of the one before it.
    const start = width === 0 ? Math.max(0, column - 1) : column;
    if (start >= to) break;
    if (start >= from) kept += character;
    column += width;
    before = character;
  }
  return kept;
}
