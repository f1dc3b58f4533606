/** The replay window compared with a model that stores everything, and its text form. */
import assert from "node:assert/strict";
import { REPLAY_WINDOW, ReplayWindow } from "../../../src/crypto/replay_window.ts";
import { randomNumbers } from "../../helpers/random_numbers.ts";

Deno.test("each counter is fresh once, in any order inside the window, and old below it [replay-window]", () => {
  const random = randomNumbers(1);
  const window = ReplayWindow.empty();
  const taken = new Set<number>();
  let top = 0;
  for (let step = 0; step < 200_000; step++) {
    const counter = Math.max(1, top + 40 - Math.floor(random() ** 3 * (REPLAY_WINDOW + 400)));
    const expected = counter <= top - REPLAY_WINDOW ? "old" : taken.has(counter) ? "used" : "fresh";
    assert.equal(window.check(counter), expected, `${counter} at ${top}`);
    if (expected === "fresh") {
      window.take(counter);
      taken.add(counter);
      top = Math.max(top, counter);
    }
  }
});

Deno.test("a jump forgets the counters that leave the window, and nothing else [replay-window]", () => {
  const window = ReplayWindow.empty();
  for (const counter of [1, 2, 5]) window.take(counter);
  window.take(REPLAY_WINDOW + 2);
  assert.deepEqual([1, 2, 3, 4, 5].map((counter) => window.check(counter)), [
    "old",
    "old",
    "fresh",
    "fresh",
    "used",
  ]);
  window.take(2 ** 52);
  assert.deepEqual([5, REPLAY_WINDOW + 2, 2 ** 52].map((counter) => window.check(counter)), [
    "old",
    "old",
    "used",
  ]);
  assert.equal(window.check(2 ** 52 - 1), "fresh");
  assert.equal(window.check(0), "old");
});

Deno.test("its text form decodes to the same window, and invalid text is refused [replay-window]", () => {
  const window = ReplayWindow.empty();
  for (const counter of [3, 9, 4_000]) window.take(counter);
  const again = ReplayWindow.decode(window.encode());
  assert.deepEqual(again?.encode(), window.encode());
  assert.deepEqual([2, 3, 9, 4_000, 4_001].map((counter) => again?.check(counter)), [
    ...["fresh", "used", "used", "used", "fresh"],
  ]);
  assert.equal(ReplayWindow.decode({ top: 1, bits: "AAAA" }), undefined);
  assert.equal(ReplayWindow.decode({ ...window.encode(), top: -1 }), undefined);
});
