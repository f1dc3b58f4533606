/** Work for one address delays others only briefly. */
import assert from "node:assert/strict";
import { FairTurns } from "../../../src/runtime/plain_connections.ts";
import { until } from "../../helpers/until.ts";

Deno.test("work for one busy address is done between others' work, never before it [flood-unread-answers]", async () => {
  using turns = new FairTurns(2);
  const done: string[] = [];
  for (let n = 0; n < 50; n++) turns.run("flooder", () => void done.push(`flood ${n}`));
  turns.run("other", () => void done.push("other"));
  assert.deepEqual(done, ["flood 0", "flood 1"], "one turn's share at once");
  await until("all to be done", () => done.length === 51);
  assert.ok(
    done.indexOf("other") <= 4,
    `others wait for a turn, not for the flood: ${done.indexOf("other")}`,
  );
  assert.deepEqual(
    done.filter((what) => what !== "other"),
    Array.from({ length: 50 }, (_, n) => `flood ${n}`),
  );
});

Deno.test("cancelled work is not done, and nothing is left waiting at the end", () => {
  const done: number[] = [];
  const turns = new FairTurns(1);
  const takeBack = Array.from({ length: 5 }, (_, n) => turns.run("one", () => void done.push(n)));
  takeBack[2]?.();
  turns[Symbol.dispose]();
  assert.deepEqual(done, [0, 1, 3, 4]);
});

Deno.test("work that comes after the end is done at once, and leaves no timer", () => {
  const done: number[] = [];
  const turns = new FairTurns(1);
  turns[Symbol.dispose]();
  for (const n of [1, 2, 3]) turns.run("one", () => void done.push(n));
  assert.deepEqual(done, [1, 2, 3]);
});
