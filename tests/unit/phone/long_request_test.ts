/** Pieces of a long text: complete, split at line breaks if there are any, never within a character or a name. */
import assert from "node:assert/strict";
import { partsOf, PIECE_CHARS } from "../../../src/phone/views/long_request.tsx";

Deno.test("the joined pieces are the whole text, and each ends where a line ends [card-read]", () => {
  const lines = Array.from({ length: 5_000 }, (_, line) => `+ line ${line}`).join("\n");
  const pieces = partsOf(lines);
  assert.equal(pieces.map(({ text }) => text).join(""), lines);
  assert.ok(pieces.slice(0, -1).every(({ text, goesOn }) => text.endsWith("\n") && !goesOn));
  assert.equal(pieces.reduce((rows, piece) => rows + piece.rows, 0), 5_000);
});

Deno.test("a long line is cut between two characters, and its pieces say that they continue [card-read]", () => {
  for (const shift of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    const text = "x".repeat(shift) + "⟨U+202E⟩🙂".repeat(2_000);
    const pieces = partsOf(text);
    assert.equal(pieces.map((piece) => piece.text).join(""), text);
    assert.ok(pieces.every((piece) => piece.text.length <= PIECE_CHARS && piece.text.isWellFormed()));
    assert.ok(pieces.slice(1).every(({ goesOn }) => goesOn) && pieces[0]?.goesOn === false);
    assert.ok(pieces.every((piece) => piece.text.split("⟨").length === piece.text.split("⟩").length));
  }
  assert.equal(partsOf("⟨".repeat(PIECE_CHARS * 2)).map(({ text }) => text).join("").length, PIECE_CHARS * 2);
  assert.deepEqual(partsOf(""), []);
});
