/** A journal that was damaged in its middle: no step that may have typed a text is forgotten. */
import assert from "node:assert/strict";
import { openJournal } from "../../../src/home/journal.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

const AT = 1_795_000_000_000;
const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

Deno.test("a damaged line never makes a text that may be in a pane be typed again [inj-journal, fault-files]", async () => {
  await using home = await makeTempHome();
  const options = { files: home.files, path: home.paths.journal, now: () => AT };
  const journal = await openJournal(options);
  const sealed = { pairing: "p", counter: 7 };
  await journal.take(id(1), sealed);
  await journal.record(id(1), { step: "typing" });
  await journal.record(id(2), { step: "accepted" });
  await journal.close();
  const whole = await Deno.readTextFile(home.paths.journal);
  const lines = whole.split("\n");
  const typing = lines.findIndex((line) => line.includes('"typing"'));
  for (
    const [from, to] of [["typing", "typinG"], ['"sum":"', '"sum":"f'], [`"at":${AT}`, `"at":\u0000\u0000`]]
  ) {
    const damaged = lines.with(typing, (lines[typing] ?? "").replace(from ?? "", to ?? ""));
    await Deno.writeTextFile(home.paths.journal, damaged.join("\n"));
    const after = await openJournal(options);
    assert.equal(after.damaged, 1);
    assert.deepEqual(after.state(id(1)), { id: id(1), at: AT, step: "typing", sealed });
    assert.equal(after.state(id(2))?.step, "accepted");
    await after.close();
  }
  // A lost line break: two entries in one damaged line.
  await Deno.writeTextFile(home.paths.journal, whole.replaceAll("\n", "\u000b"));
  const joined = await openJournal(options);
  assert.equal(joined.state(id(1))?.step, "typing");
  await joined.close();
});

Deno.test("a step whose write was cut off was not acted on, and the message is typed later [inj-journal]", async () => {
  await using home = await makeTempHome();
  const options = { files: home.files, path: home.paths.journal, now: () => AT };
  const journal = await openJournal(options);
  await journal.record(id(1), { step: "accepted" });
  await journal.record(id(1), { step: "typing" });
  await journal.record(id(2), { step: "accepted" });
  await journal.close();
  const lines = (await Deno.readTextFile(home.paths.journal)).split("\n");
  const torn = lines.map((line) => line.includes('"typing"') ? line.slice(0, -1) : line);
  await Deno.writeTextFile(home.paths.journal, torn.join("\n"));
  const after = await openJournal(options);
  assert.deepEqual([after.damaged, after.state(id(1))?.step], [1, "accepted"]);
  await after.close();
});
