/** Cuts a long text into pieces that a browser can lay out one by one; joined they are the text again. */

/** Characters of a piece: a few screens. */
export const PIECE_CHARS = 4_096;
/** Characters in a row on a phone, for the estimate of a piece's height. */
const ROW_CHARS = 44;
/** The name of a hidden character is not cut apart. */
const NAME_MAX_CHARS = 10;

export interface RequestPiece {
  text: string;
  /** About how many rows it takes on a phone. */
  rows: number;
  /** It begins within a line. */
  goesOn: boolean;
}

/** Cut after a line where one ends, else between two characters. */
export function partsOf(text: string): RequestPiece[] {
  const pieces: RequestPiece[] = [];
  for (let at = 0; at < text.length;) {
    const end = cutAfter(text, at);
    const piece = text.slice(at, end);
    pieces.push({ text: piece, rows: rowsOf(piece), goesOn: at > 0 && text[at - 1] !== "\n" });
    at = end;
  }
  return pieces;
}

function cutAfter(text: string, at: number): number {
  const most = at + PIECE_CHARS;
  if (most >= text.length) return text.length;
  const line = text.slice(at, most).lastIndexOf("\n");
  if (line >= 0) return at + line + 1;
  const name = text.slice(most - NAME_MAX_CHARS, most).lastIndexOf("⟨");
  const isCut = name > 0 && !text.slice(most - NAME_MAX_CHARS + name, most).includes("⟩");
  if (isCut) return most - NAME_MAX_CHARS + name;
  const isPair = /[\ud800-\udbff]/.test(text[most - 1] ?? "") && /[\udc00-\udfff]/.test(text[most] ?? "");
  return isPair ? most - 1 : most;
}

function rowsOf(piece: string): number {
  const lines = piece.endsWith("\n") ? piece.slice(0, -1).split("\n") : piece.split("\n");
  return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / ROW_CHARS)), 0);
}
