/** The lines of a pane as `capture-pane` prints them: attributes, and which of them wrap. */

/** Text with its SGR sequences, complete in itself but for the attributes carried into it from the line before. */
export interface Line {
  text: string;
  /** The next line goes on with it. */
  wraps: boolean;
}

/** tmux 3.3a prints overlined as `5:3`, which means blinking (its own attribute number, divided by ten). */
const OVERLINE = /(?<=[[;])5:3(?=[;m])/g;
const SGR = /\u001b\[[\d:;]*m/g;

/** What tmux joined to a character without giving it width, which another terminal would. */
const JOINED = /\u200d[^\u0000-\u007f]/gu;

/**
 * Both texts hold the same characters; where the joined one goes on, tmux wrapped the line. It counts as wrapped while
 * it is still full: a program may have erased its end since.
 */
export function toLines({ cells, joined, cols }: { cells: string; joined: string; cols: number }): Line[] {
  const texts = cells.replace(JOINED, "").split("\n")
    .map((line) => line.replace(SGR, (sgr) => sgr.replace(OVERLINE, "53")));
  const rests = joined.replace(JOINED, "").split("\n");
  let rest = rests.shift() ?? "";
  return texts.map((text) => {
    const plain = text.replace(SGR, "").replace(/[\u000e\u000f]/g, "");
    const goesOn = plain !== "" && rest.length > plain.length && rest.startsWith(plain);
    rest = goesOn ? rest.slice(plain.length) : rests.shift() ?? "";
    return { text, wraps: goesOn && isFull(plain, { next: rest, cols }) };
  });
}

/** A wide character that had no room leaves the last column empty. */
function isFull(line: string, { next, cols }: { next: string; cols: number }): boolean {
  const width = columnsOf(line);
  return width === cols || (width === cols - 1 && columnsOf(Array.from(next)[0] ?? "") === 2);
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/gu;
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/gu;

function columnsOf(text: string): number {
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  return Array.from(text).length + count(WIDE) - count(NARROW);
}
