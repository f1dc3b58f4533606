/** Joined prompts, matched by digests and lengths alone. */
import assert from "node:assert/strict";
import { COMPARISONS_MAX, matchJoin } from "../../../src/home/match_join.ts";

const digest = (text: string): Promise<string> => Promise.resolve(`#${text}`);
const known = (text: string): { sha256: string; length: number } => ({
  sha256: `#${text}`,
  length: text.length,
});

Deno.test("a text that holds a blank line, and is the beginning of another, is told apart", async () => {
  const texts = ["a", "a\n\nb", "c"].map(known);
  assert.deepEqual(await matchJoin("a\n\nb\n\nc", texts, digest), [texts[1], texts[2]]);
});

Deno.test("one text alone is no join", async () => {
  assert.equal(await matchJoin("a", [known("a")], digest), undefined);
});

Deno.test("a prompt made to cost much is given up", async () => {
  let compared = 0;
  const counting = (text: string): Promise<string> => {
    compared++;
    return digest(text);
  };
  const prompt = Array.from({ length: 40 }, () => "a").join("\n\n");
  const texts = Array.from({ length: 200 }, (_, index) => known(index % 2 ? "a" : "b"));
  assert.equal(await matchJoin(`${prompt}!`, texts, counting), undefined);
  assert.ok(compared <= COMPARISONS_MAX, String(compared));
});
