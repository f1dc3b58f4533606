/** An answer is acted on by the asker or by the listener, never by both. */
import assert from "node:assert/strict";
import { claimAnswer } from "../../../src/home/host_sealing.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

Deno.test("the first who claims an answer has it, the other never, also at the same instant [replay-window, seal-answers]", async () => {
  await using home = await makeTempHome();
  const claim = (id: string, by: "asker" | "listener", now = Date.now()) =>
    claimAnswer(home.files, home.paths, { id, by, now });
  assert.deepEqual([await claim("a", "asker"), await claim("a", "listener"), await claim("a", "asker")], [
    ...[true, false, true],
  ]);
  for (let n = 0; n < 50; n++) {
    const both = await Promise.all([claim(`b${n}`, "asker"), claim(`b${n}`, "listener")]);
    assert.equal(both.filter(Boolean).length, 1);
  }
  assert.equal((await Deno.stat(home.paths.answers)).mode! & 0o777, 0o700);
  await claim("c", "listener", Date.now() + 9 * 86_400_000);
  assert.deepEqual(
    await home.files.list(home.paths.answers),
    ["c"],
    "what is too old to come again is forgotten",
  );
});
