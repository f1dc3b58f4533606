/** How many columns of a terminal a text takes (after UAX #11; joined emoji count once per part). */

const ZERO = /^[\p{M}\p{Cf}]$/u;
const DOUBLE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u;

/** A tab takes up to so many. */
const TAB_COLUMNS = 8;

function characterWidth(character: string): number {
  if (character >= " " && character <= "~") return 1;
  if (character === "\t") return TAB_COLUMNS;
  if (ZERO.test(character)) return 0;
  return DOUBLE.test(character) ? 2 : 1;
}

export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** `text` in at most `columns` columns; what had to go is an ellipsis. */
export function fit(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 0;
  let kept = "";
  for (const character of text) {
    width += characterWidth(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
