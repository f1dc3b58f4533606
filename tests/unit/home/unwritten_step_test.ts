/** What has happened to a push and is not in the journal's file: it was not written, or the file was emptied since. */
import assert from "node:assert/strict";
import { type Journal, openJournal } from "../../../src/home/journal.ts";
import type { Files } from "../../../src/runtime/types.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

const [ONE, OTHER] = [1, 2].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [string, string];
const SEAL = { pairing: "p", counter: 1 };

Deno.test("the end of a sealed message is not lasting until it is on disk, and is written when the journal is closed at the latest [replay-window, fault-disk]", async () => {
  await using home = await makeTempHome();
  let isFull = false;
  const files: Files = {
    ...home.files,
    openAppend: async (path, options) => {
      const file = await home.files.openAppend(path, options);
      const full = (): Promise<void> => Promise.reject(new Error("ENOSPC"));
      return { ...file, append: (text) => isFull ? full() : file.append(text) };
    },
  };
  const open = (): Promise<Journal> => openJournal({ files, path: home.paths.journal, now: () => 1 });
  const journal = await open();
  await journal.take(ONE, SEAL);
  isFull = true;
  journal.promise(ONE);
  await assert.rejects(journal.record(ONE, { step: "done", outcome: "refused", reason: "desk_busy" }));
  assert.equal(journal.isLasting(ONE), false);
  assert.deepEqual([journal.promise(ONE), journal.state(ONE)?.step], [true, "done"]);
  for (let tries = 0; tries < 2; tries++) {
    await assert.rejects(journal.take(OTHER, { ...SEAL, counter: 2 }), /ENOSPC/);
  }
  isFull = false;
  await journal.close();
  const after = await open();
  assert.deepEqual([ONE, OTHER].map((id) => after.state(id)?.step), ["done", "accepted"]);
  assert.equal(after.isLasting(ONE), true);
  await after.close();
});

Deno.test("a journal that is emptied or cut while the listener runs is rewritten with all that it held [inj-journal]", async () => {
  for (const left of [0, 60]) {
    await using home = await makeTempHome();
    const { files, paths: { journal: path } } = home;
    const open = (): Promise<Journal> => openJournal({ files, path, now: () => 1 });
    const journal = await open();
    await journal.take(ONE, SEAL);
    await journal.record(ONE, { step: "done", outcome: "submitted" });
    await Deno.truncate(path, left);
    await journal.record(OTHER, { step: "typing" });
    await Deno.truncate(path, left);
    await journal.close();
    const after = await open();
    assert.deepEqual([ONE, OTHER].map((id) => after.state(id)?.step), ["done", "typing"], `${left}`);
    assert.equal(after.damaged, 0);
    await after.close();
  }
});
