/** Which output tmux and another terminal draw alike, whatever stands on the screen: all else is checked against tmux once it is quiet. */

/** Wide, joining and combining characters differ at the edges of lines and of one another. */
const UNEVEN =
  /[\p{M}\p{Cf}\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/u;

/** Cursor, erasing, inserting, scrolling, attributes, tab stops, reports. */
const PLAIN_FINALS = "ABCDEFGHIJKLMPSTXZ@`acdefgmnqrt";
/** Cursor keys, cursor's look, mouse, focus, paste marks, synchronized drawing. */
const PLAIN_MODES = new Set([
  "1",
  "12",
  "25",
  "1000",
  "1002",
  "1003",
  "1004",
  "1005",
  "1006",
  "2004",
  "2026",
]);
/** Index, tab stop, reverse index, next line, save, keypad, the end of a string. */
const PLAIN_ESCAPES = "DHME7=>\\";

export function isPlainCharacter(code: number): boolean {
  return code < 0x10000 && !UNEVEN.test(String.fromCharCode(code));
}

/** `text` is what follows `CSI`, with its final. */
export function isPlainCsi(text: string): boolean {
  const final = text.slice(-1);
  const modes = /^\?([\d;]*)[hl]$/.exec(text)?.[1];
  if (modes !== undefined) return modes.split(";").every((mode) => PLAIN_MODES.has(mode));
  // Questions and key protocols draw nothing.
  if (/^[<=>?]/.test(text)) return final !== "J" && final !== "K";
  return PLAIN_FINALS.includes(final) && !/[!"#$'*]/.test(text);
}

/** Lines that are inserted, deleted or scrolled, tab stops, repeated characters: what terminals do one by one. */
const COUNTED = /^(\d+)([\d;:]*[LMSTbIZ])$/;

/** What follows `CSI`, without a count above `max`. */
export function boundCount(text: string, max: number): string {
  const [, count = "", rest = ""] = COUNTED.exec(text) ?? [];
  return Number(count) > max ? `${max}${rest}` : text;
}

/** `text` is what follows ESC. Character sets are designated alike. */
export function isPlainEscape(text: string): boolean {
  return text.length === 1 ? PLAIN_ESCAPES.includes(text) : /^[()][0B]$/.test(text);
}

/** Erasing, inserting, deleting and scrolling fill cells with the background that is set. */
export function fillsCells(text: string): boolean {
  return /^[\d;]*[@JKLMPSTX]$/.test(text);
}

/** Inserting and deleting lines moves the cursor to the first column elsewhere, and leaves it in tmux. */
export function losesColumn(text: string): boolean {
  return /^\d*[LM]$/.test(text);
}

/** After this the column is the same again. */
export function setsColumn(text: string): boolean {
  return /^[\d;]*[GHf`]$/.test(text);
}
