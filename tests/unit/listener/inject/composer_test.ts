/** What counts as the typed text in a composer. */
import assert from "node:assert/strict";
import {
  composerShows,
  isSameText,
  showsLeftBehind,
  showsTyped,
} from "../../../../src/listener/inject/composer.ts";

const FOLDS = { foldedPaste: /^\[Pasted text #\d+\]$/ };
const shows = (draft: string, text: string, before = ""): boolean =>
  composerShows(draft, { before, text }, FOLDS);

Deno.test("composer: wrapping, indentation and blanks do not matter, every other character does [inj-composer-shows]", () => {
  assert.ok(shows("run the\n  tests now", "run the tests now "));
  assert.ok(shows("a    b", "a\tb"));
  assert.ok(shows("draft run it", "run it", "draft "));
  assert.ok(!shows("run the tests nov", "run the tests now"));
  assert.ok(!shows("", "run"));
  assert.ok(!shows("xrun the tests now", "run the tests now"));
});

Deno.test("composer: characters that terminals draw differently are ignored [inj-composer-shows]", () => {
  assert.ok(shows("family 👨 👩 👧 é", "family 👨‍👩‍👧 e\u0301"));
  assert.ok(shows("👍", "👍🏽"));
  assert.ok(isSameText("a b", "ab"));
  assert.ok(!isSameText("a", "b"));
});

Deno.test("composer: texts that consist of symbols only are compared by their symbols, as far as terminals draw them alike [inj-composer-shows, inj-take-back]", () => {
  for (
    const [one, other] of [["🎉", "👍"], ["🎉", "🎉🎉"], ["𐐨", "𐐩"], ["🇩🇪", "🇫🇷"], ["🎉", "a"], [
      "",
      "🎉",
    ]] as const
  ) {
    assert.ok(!isSameText(one, other), `${one} ${other}`);
    assert.ok(!shows(other, one), `${one} ${other}`);
  }
  assert.ok(isSameText(" 👍🏽\n", "👍"));
  assert.ok(shows("❤", "❤\ufe0f"));
  assert.ok(shows("👨 👩 👧", "👨‍👩‍👧"));
  assert.ok(showsTyped("🎉 🎉", "🎉") && !showsTyped("a draft", "🎉"));
  assert.ok(!showsLeftBehind("👍", { before: "", text: "🎉" }, FOLDS), "another's draft");
});

Deno.test("composer: a folded paste or the end of a long text counts as the whole text [inj-composer-shows]", () => {
  const long = Array.from({ length: 60 }, (_, at) => `line number ${at}`).join("\n");
  assert.ok(shows("[Pasted text #1]", long));
  assert.ok(shows("line number 58\nline number 59", long));
  assert.ok(!shows("line number 1\nline number 2", long));
  assert.ok(!shows("59", long), "too little of it");
});

Deno.test("composer: a folded paste after the previous draft counts as the whole text, but not after another draft [inj-composer-shows, inj-send-anyway]", () => {
  const folded = "[Pasted text #1]";
  assert.ok(shows(`see ${folded}`, "1\n2", "see"));
  assert.ok(shows("a draft [Pasted\ntext #1] ", "1\n2", "a draft"), "wrapped");
  for (
    const draft of [`so ${folded}`, `/see ${folded}`, `!see ${folded}`, `see ${folded} now`, `${folded} see`]
  ) {
    assert.ok(!shows(draft, "1\n2", "see"), draft);
  }
  assert.ok(!shows(`/init ${folded}`, "1\n2"), "nothing was there");
  const left = { before: "see", text: "1\n2", shown: `see ${folded}` };
  assert.ok(showsLeftBehind(`see ${folded}`, left, FOLDS));
  assert.ok(!showsLeftBehind("see [Pasted text #2]", left, FOLDS), "another paste");
});

Deno.test("composer: a draft with a shell prefix that was not typed does not match [inj-composer-shows, inj-shell-escape]", () => {
  assert.ok(!shows("!run it", "run it"));
  assert.ok(shows("!run it", "!run it"));
});
