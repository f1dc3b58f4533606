/** The journal: what it keeps across a crash, a full disk and a restart. */
import assert from "node:assert/strict";
import {
  type Journal,
  JOURNAL_COMPACT_LINES,
  JOURNAL_LATEST,
  JOURNAL_RETENTION_MS,
  openJournal,
} from "../../../src/home/journal.ts";
import type { Files } from "../../../src/runtime/types.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";
import { until } from "../../helpers/until.ts";

const START = 1_795_000_000_000;
const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

function open(home: TempHome, more: { now?: number; files?: Files } = {}): Promise<Journal> {
  const { now = START, files = home.files } = more;
  return openJournal({ files, path: home.paths.journal, now: () => now });
}

async function reopened(home: TempHome, journal: Journal): Promise<Journal> {
  await journal.close();
  return await open(home);
}

Deno.test("each step is on disk once it is recorded, and is read after a restart [inj-journal]", async () => {
  await using home = await makeTempHome();
  const journal = await open(home);
  assert.equal(journal.state(id(1)), undefined);
  await journal.record(id(1), { step: "accepted" });
  await journal.record(id(1), { step: "typing" });
  await journal.record(id(2), {
    step: "done",
    outcome: "refused",
    reason: "rate_limited",
    retryAfterSeconds: 9,
  });
  assert.match(await Deno.readTextFile(home.paths.journal), /"typing"/);
  const after = await reopened(home, journal);
  assert.deepEqual(after.state(id(1)), { id: id(1), at: START, step: "typing" });
  assert.deepEqual(after.state(id(2)), {
    ...{ id: id(2), at: START, step: "done" },
    ...{ outcome: "refused", reason: "rate_limited", retryAfterSeconds: 9 },
  });
  assert.deepEqual(after.unfinished().map((entry) => entry.id), [id(1)]);
  await after.close();
});

Deno.test("whether the composer was empty is kept until the text is typed again [inj-journal, inj-take-back]", async () => {
  await using home = await makeTempHome();
  const journal = await open(home);
  const emptyAt = START - 7;
  await journal.record(id(1), { step: "typing", emptyAt });
  await journal.record(id(1), { step: "typed" });
  await journal.record(id(1), { step: "left", shown: "[Pasted text #1]" });
  await journal.record(id(2), { step: "typing", emptyAt });
  await journal.record(id(2), { step: "typing" });
  const after = await reopened(home, journal);
  const left = { step: "left", emptyAt, shown: "[Pasted text #1]" };
  assert.deepEqual(after.state(id(1)), { id: id(1), at: START, ...left });
  assert.deepEqual(after.state(id(2)), { id: id(2), at: START, step: "typing" });
  await after.close();
});

Deno.test("after a cut at any byte, every step before the cut is known, and none is made up", async () => {
  await using home = await makeTempHome();
  const journal = await open(home);
  await journal.record(id(1), { step: "accepted" });
  await journal.record(id(1), { step: "typing" });
  await journal.record(id(1), { step: "typed" });
  await journal.record(id(1), { step: "done", outcome: "submitted" });
  await journal.close();
  const whole = await Deno.readTextFile(home.paths.journal);
  const steps = [undefined, "accepted", "typing", "typed", "done"];
  for (let length = 0; length <= whole.length; length++) {
    const cut = whole.slice(0, length);
    await Deno.writeTextFile(home.paths.journal, cut);
    const after = await open(home);
    // A line that lacks only its line break is complete.
    const known = cut.split("\n").filter((line) => whole.split("\n").includes(line) && line !== "").length;
    assert.equal(after.state(id(1))?.step, steps[known], `cut at ${length}`);
    await after.close();
  }
});

Deno.test("steps recorded after a torn line are not lost with it", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.journal, '{"sum":"01234567","entry":{"id":"0000');
  const journal = await open(home);
  assert.equal(journal.damaged, 1);
  await journal.record(id(2), { step: "accepted" });
  const after = await reopened(home, journal);
  assert.deepEqual([after.damaged, after.state(id(2))?.step], [0, "accepted"]);
  await after.close();
});

Deno.test("damaged lines are skipped and counted, the others stay", async () => {
  await using home = await makeTempHome();
  const journal = await open(home);
  for (const number of [1, 2, 3]) await journal.record(id(number), { step: "accepted" });
  await journal.close();
  const lines = (await Deno.readTextFile(home.paths.journal)).split("\n");
  lines[1] = lines[1]?.replace("entry", "entr!") ?? "";
  await Deno.writeTextFile(home.paths.journal, `${lines.join("\n")}\u0000\u0001junk\n[]\n`);
  const after = await open(home);
  assert.equal(after.damaged, 3);
  assert.deepEqual([1, 2, 3].map((number) => after.state(id(number))?.step), [
    "accepted",
    undefined,
    "accepted",
  ]);
  await after.close();
});

Deno.test("outcomes are dropped after more than the longest ttl, not before", async () => {
  await using home = await makeTempHome();
  const quick = { ...home.files, openAppend: unsynced(home.files) };
  const known = async (now: number): Promise<(number | undefined)[]> => {
    const journal = await open(home, { now, files: quick });
    await journal.record(id(now - START), { step: "done", outcome: "submitted" });
    await journal.close();
    const after = await open(home, { now, files: quick });
    await after.close();
    return [1, 2].map((n) => after.state(id(n)) && n);
  };
  const journal = await open(home, { files: quick });
  await journal.record(id(1), { step: "done", outcome: "submitted" });
  await journal.record(id(2), { step: "typed" });
  for (let n = 0; n < JOURNAL_LATEST; n++) await journal.record(id(10 + n), { step: "accepted" });
  await journal.close();
  assert.deepEqual(await known(START + JOURNAL_RETENTION_MS), [1, 2]);
  assert.deepEqual(
    await known(START + JOURNAL_RETENTION_MS + 1),
    [undefined, 2],
    "it may still be in the composer",
  );
});

Deno.test("a clock that was set by more than the longest ttl does not make it drop what the relay may send again [inj-journal, fault-clock]", async () => {
  await using home = await makeTempHome();
  const corrected = START + 2 * JOURNAL_RETENTION_MS;
  const journal = await open(home);
  await journal.record(id(1), { step: "typing" });
  await journal.record(id(2), { step: "typed" });
  await journal.record(id(3), { step: "done", outcome: "submitted" });
  await journal.close();
  const steps = (after: Journal): unknown[] => [1, 2, 3].map((n) => after.state(id(n))?.step);
  const second = await open(home, { now: corrected });
  assert.deepEqual(steps(second), ["typing", "typed", "done"]);
  await second.record(id(4), { step: "done", outcome: "submitted" });
  await second.close();
  const third = await open(home, { now: corrected });
  assert.deepEqual(
    steps(third),
    ["typing", "typed", "done"],
    "also once there is an entry by the corrected clock",
  );
  await third.close();
});

Deno.test("the file keeps one line per push, however many steps were recorded", async () => {
  await using home = await makeTempHome();
  const quick = { ...home.files, openAppend: unsynced(home.files) };
  const journal = await open(home, { files: quick });
  for (let step = 0; step <= JOURNAL_COMPACT_LINES; step++) {
    await journal.record(id(step % 3), { step: "typing" });
  }
  await journal.close();
  const lines = (await Deno.readTextFile(home.paths.journal)).trimEnd().split("\n");
  assert.ok(lines.length < 10, String(lines.length));
});

Deno.test("a typing step survives if the file is rewritten during it [inj-journal]", async () => {
  await using home = await makeTempHome();
  const quick = { ...home.files, openAppend: unsynced(home.files) };
  const journal = await open(home, { files: quick });
  for (let step = 1; step < JOURNAL_COMPACT_LINES; step++) {
    await journal.record(id(step % 3), { step: "accepted" });
  }
  await journal.record(id(1), { step: "typing" });
  const after = await reopened(home, journal);
  assert.equal(after.state(id(1))?.step, "typing");
  await after.close();
});

Deno.test("an unsynced step survives a killed process, and is on the disk before the synced step after it [inj-journal]", async () => {
  await using home = await makeTempHome();
  const written: string[] = [];
  const openAppend: Files["openAppend"] = async (path, options) => {
    const file = await home.files.openAppend(path, options);
    return {
      ...file,
      append: async (text) => {
        await file.append(text);
        for (const [, step = ""] of String(text).matchAll(/"step":"(\w+)"/g)) written.push(step);
      },
      sync: () => Promise.resolve(void written.push("synced")),
    };
  };
  const journal = await open(home, { files: { ...home.files, openAppend } });
  await journal.record(id(1), { step: "accepted" }, { sync: false });
  const seal = { pairing: "p", counter: 1 };
  assert.equal(await journal.take(id(2), seal, { sync: false }), "taken");
  assert.deepEqual(written, ["accepted", "accepted"]);
  const copy = `${home.paths.journal}.copy`;
  await Deno.copyFile(home.paths.journal, copy);
  const killed = await open({ ...home, paths: { ...home.paths, journal: copy } });
  assert.deepEqual([killed.state(id(1))?.step, killed.state(id(2))?.sealed], ["accepted", seal]);
  await killed.close();
  await Promise.all([
    journal.record(id(1), { step: "typing" }),
    journal.record(id(2), { step: "typed" }, { sync: false }),
  ]);
  assert.deepEqual(written.slice(2), ["typing", "typed", "synced"]);
  await journal.close();
});

Deno.test("steps recorded while the disk is busy share one wait for it, and are visible only after it [push-in-flight]", async () => {
  await using home = await makeTempHome();
  const disk = { syncs: 0, gate: Promise.withResolvers<void>() };
  const openAppend: Files["openAppend"] = async (path, options) => ({
    ...await home.files.openAppend(path, options),
    async sync() {
      disk.syncs += 1;
      await disk.gate.promise;
    },
  });
  const journal = await open(home, { files: { ...home.files, openAppend } });
  const first = journal.record(id(0), { step: "accepted" });
  await until("the first wait", () => disk.syncs === 1);
  const others = Array.from({ length: 255 }, (_, n) => journal.record(id(n + 1), { step: "accepted" }));
  assert.equal(journal.state(id(0)), undefined);
  disk.gate.resolve();
  await Promise.all([first, ...others]);
  assert.equal(disk.syncs, 2);
  assert.equal(journal.unfinished().length, 256);
  await journal.close();
});

function unsynced(files: Files): Files["openAppend"] {
  return async (path, options) => ({
    ...await files.openAppend(path, options),
    sync: () => Promise.resolve(),
  });
}

Deno.test("a full disk refuses the step, and does not damage later ones", async () => {
  await using home = await makeTempHome();
  const disk = { isFull: false };
  const journal = await open(home, { files: { ...home.files, openAppend: filling(home.files, disk) } });
  await journal.record(id(1), { step: "accepted" });
  disk.isFull = true;
  await assert.rejects(journal.record(id(1), { step: "typing" }), /ENOSPC/);
  assert.equal(journal.state(id(1))?.step, "accepted", "typing must not begin");
  await assert.rejects(journal.record(id(2), { step: "done", outcome: "submitted" }), /ENOSPC/);
  assert.equal(journal.state(id(2))?.step, "done", "past outcomes are still remembered");
  disk.isFull = false;
  await journal.record(id(3), { step: "accepted" });
  const after = await reopened(home, journal);
  assert.deepEqual([1, 2, 3].map((number) => after.state(id(number))?.step), [
    "accepted",
    "done",
    "accepted",
  ], "what had happened is written with what follows");
  await after.close();
});

/** While full, writes half of a line before the error. */
function filling(files: Files, disk: { isFull: boolean }): Files["openAppend"] {
  return async (path, options) => {
    const file = await files.openAppend(path, options);
    return {
      ...file,
      async append(text) {
        await file.append(disk.isFull ? text.slice(0, text.length / 2) : text);
        if (disk.isFull) throw new Error("ENOSPC");
      },
    };
  };
}

Deno.test("steps recorded at once are all kept, and the file is for the owner only", async () => {
  await using home = await makeTempHome();
  const journal = await open(home);
  await Promise.all(
    Array.from({ length: 50 }, (_, number) => journal.record(id(number), { step: "accepted" })),
  );
  const after = await reopened(home, journal);
  assert.equal(after.unfinished().length, 50);
  assert.equal(after.damaged, 0);
  await after.close();
  assert.equal((await Deno.stat(home.paths.journal)).mode! & 0o777, 0o600);
});

Deno.test("no flood of other pushes makes it drop one that a paired phone sealed, even after a restart [sec-replay, hostile-relay]", async () => {
  await using home = await makeTempHome();
  const make = (): Promise<Journal> =>
    openJournal({ files: home.files, path: home.paths.journal, now: () => START, pushesMax: 3 });
  const first = await make();
  await first.take(id(1), { pairing: "a", counter: 1 });
  await first.record(id(1), { step: "done", outcome: "submitted" });
  const flood = async (journal: Journal, from: number): Promise<void> => {
    for (let n = from; n < from + 5; n++) {
      await journal.record(id(n), { step: "done", outcome: "refused", reason: "unsealable" });
    }
  };
  await flood(first, 10);
  await first.close();
  const second = await make();
  await flood(second, 20);
  const known = [1, 10, 21, 22, 23, 24].filter((n) => second.state(id(n)) !== undefined);
  assert.deepEqual(known, [1, 22, 23, 24]);
  await second.close();
});

Deno.test("a counter is accepted once, after it is on disk, and the same push may be accepted again until it ends [replay-window]", async () => {
  await using home = await makeTempHome();
  const journal = await open(home);
  const seal = { pairing: "a", counter: 5 };
  assert.equal(await journal.take(id(1), seal), "taken");
  assert.equal(await journal.take(id(2), seal), "used", "another push with the same number");
  const after = await reopened(home, journal);
  assert.deepEqual([await after.take(id(1), seal), await after.take(id(2), seal)], ["taken", "used"]);
  assert.equal(await after.take(id(3), { pairing: "b", counter: 5 }), "taken", "pairings count apart");
  assert.equal(await after.take(id(4), { pairing: "a", counter: 5_000 }), "taken");
  assert.equal(await after.take(id(5), { pairing: "a", counter: 6 }), "old");
  await after.record(id(1), { step: "done", outcome: "refused", reason: "muted" });
  const third = await reopened(home, after);
  assert.deepEqual(third.state(id(1))?.sealed, seal);
  await third.close();
});

Deno.test("a phone that has sent numbers is no longer accepted without one; a phone that never has is [replay-window, upgrade-home]", async () => {
  await using home = await makeTempHome();
  const journal = await open(home);
  assert.equal(await journal.take(id(1), { pairing: "a" }), "taken");
  assert.equal(await journal.take(id(2), { pairing: "a", counter: 1 }), "taken");
  assert.equal(await journal.take(id(3), { pairing: "a" }), "uncounted");
  assert.equal(await journal.take(id(1), { pairing: "a" }), "taken", "what was in hand goes on");
  const after = await reopened(home, journal);
  assert.equal(await after.take(id(3), { pairing: "a" }), "uncounted");
  await after.close();
});

Deno.test("50,001 refused entries displace neither a number nor a promised refusal [replay-window]", async () => {
  await using home = await makeTempHome();
  const quick = { ...home.files, openAppend: unsynced(home.files) };
  const journal = await open(home, { files: quick });
  const seal = { pairing: "a", counter: 1 };
  await journal.take(id(1), seal);
  await journal.record(id(1), { step: "done", outcome: "refused", reason: "muted" });
  assert.equal(journal.promise(id(2)), true);
  await journal.record(id(2), { step: "done", outcome: "refused", reason: "unsealable" });
  const refused = { step: "done", outcome: "refused", reason: "sealed_required" } as const;
  for (let n = 10; n < 50_011; n += 1_000) {
    const those = Array.from({ length: Math.min(1_000, 50_011 - n) }, (_, more) => id(n + more));
    await Promise.all(those.map((one) => journal.record(one, refused)));
  }
  await journal.close();
  const after = await open(home, { files: quick });
  assert.deepEqual([after.state(id(1))?.step, after.state(id(2))?.step], ["done", "done"]);
  await after.close();
  const later = await open(home, { now: START + JOURNAL_RETENTION_MS + 1, files: quick });
  const counters = Array.from({ length: JOURNAL_LATEST }, (_, place) => place + 1);
  await Promise.all(counters.map((n) => later.take(id(100_000 + n), { pairing: "b", counter: n })));
  await later.compact();
  assert.equal(later.state(id(1)), undefined);
  assert.equal(await later.take(id(3), seal), "used", "also when the push itself is forgotten");
  await later.close();
});

Deno.test("more refusals than can be stored are not promised [replay-window]", async () => {
  await using home = await makeTempHome();
  const journal = await openJournal({
    ...{ files: home.files, path: home.paths.journal, now: () => START },
    promisesMax: 2,
  });
  const promised: boolean[] = [];
  for (const n of [1, 2, 3]) {
    promised.push(journal.promise(id(n)));
    await journal.record(id(n), { step: "done", outcome: "refused", reason: "unsealable" });
  }
  assert.deepEqual(promised, [true, true, false]);
  assert.deepEqual([1, 2, 3].map((n) => journal.isLasting(id(n))), [true, true, false]);
  await journal.close();
});

Deno.test("on a full disk it still knows that nothing was typed after all, and a file that cannot be rewritten fails no step [inj-journal, fault-disk]", async () => {
  await using home = await makeTempHome();
  const full = new Error("No space left on device");
  let [isFull, canReplace] = [false, true];
  const files: Files = {
    ...home.files,
    openAppend: async (path, options) => {
      const file = await unsynced(home.files)(path, options);
      return { ...file, append: (text) => isFull ? Promise.reject(full) : file.append(text) };
    },
    replaceText: (...args) => canReplace ? home.files.replaceText(...args) : Promise.reject(full),
  };
  const journal = await open(home, { files });
  await journal.record(id(1), { step: "accepted" });
  await journal.record(id(1), { step: "typing" });
  isFull = true;
  await assert.rejects(journal.record(id(1), { step: "accepted" }), full);
  assert.equal(journal.state(id(1))?.step, "accepted");
  isFull = false;
  const records = (from: number): Promise<void>[] =>
    Array.from({ length: JOURNAL_COMPACT_LINES }, (_, n) => journal.record(id(from + n), { step: "typing" }));
  canReplace = false;
  await Promise.all(records(2));
  assert.equal(journal.state(id(2))?.step, "typing");
  await journal.close();
});

Deno.test("on a full disk it opens with its content, and later records follow complete lines [inj-journal, fault-disk]", async () => {
  await using home = await makeTempHome();
  const full = (): Promise<never> => Promise.reject(new Error("No space left on device"));
  const journal = await open(home);
  await journal.record(id(1), { step: "typing" });
  await journal.close();
  const torn = `${await Deno.readTextFile(home.paths.journal)}{"sum":"`;
  await Deno.writeTextFile(home.paths.journal, torn);
  for (const broken of [{ replaceText: full }, { writeText: full }]) {
    const second = await open(home, { files: { ...home.files, ...broken } });
    assert.deepEqual([second.state(id(1))?.step, second.damaged], ["typing", 1]);
    assert.equal(await Deno.readTextFile(home.paths.journal), torn);
    await second.close();
  }
  const third = await open(home, { files: { ...home.files, writeText: full } });
  await third.record(id(2), { step: "accepted" });
  await third.close();
  const after = await open(home);
  assert.deepEqual([1, 2].map((n) => after.state(id(n))?.step), ["typing", "accepted"]);
  await after.close();
  assert.ok(
    (await Deno.readTextFile(`${home.paths.journal}.damaged`)).startsWith(torn),
    "kept once that is possible",
  );
});

Deno.test("a journal that is removed while the listener runs is rewritten with its whole content [inj-journal]", async () => {
  await using home = await makeTempHome();
  const journal = await open(home);
  const seal = { pairing: "p", counter: 1 };
  await journal.record(id(1), { step: "done", outcome: "submitted" });
  await journal.record(id(2), { step: "typing" });
  await journal.take(id(3), seal);
  await Deno.remove(home.paths.journal);
  assert.equal(journal.state(id(1))?.step, "done");
  await journal.record(id(4), { step: "typing" });
  const after = await reopened(home, journal);
  assert.deepEqual([1, 2, 3, 4].map((one) => after.state(id(one))?.step), [
    ...["done", "typing", "accepted", "typing"],
  ]);
  assert.equal(await after.take(id(5), seal), "used");
  // Removed before the first step since it was opened.
  await Deno.rename(home.paths.journal, `${home.paths.journal}.old`);
  await after.record(id(4), { step: "done", outcome: "submitted" });
  // Removed without a step after that.
  await Deno.remove(home.paths.journal);
  const last = await reopened(home, after);
  assert.deepEqual([last.state(id(1))?.step, last.state(id(4))?.step], ["done", "done"]);
  await last.close();
});

Deno.test("a journal that is replaced while the listener runs is rewritten with all that it held [inj-journal]", async () => {
  await using home = await makeTempHome();
  const journal = await open(home);
  const backup = await Deno.readTextFile(home.paths.journal);
  await journal.record(id(1), { step: "done", outcome: "submitted" });
  await home.files.replaceText(home.paths.journal, backup);
  await journal.record(id(2), { step: "typing" });
  const after = await reopened(home, journal);
  assert.deepEqual([1, 2].map((one) => after.state(id(one))?.step), ["done", "typing"]);
  // And with no step after it.
  await home.files.replaceText(home.paths.journal, backup);
  const last = await reopened(home, after);
  assert.deepEqual(last.state(id(1))?.step, "done");
  await last.close();
});

Deno.test("no step may be acted on while a removed journal cannot be rewritten [inj-journal, fault-disk]", async () => {
  await using home = await makeTempHome();
  const full = new Error("No space left on device");
  let isFull = false;
  const replaceText: Files["replaceText"] = (...args) =>
    isFull ? Promise.reject(full) : home.files.replaceText(...args);
  const journal = await open(home, { files: { ...home.files, replaceText } });
  await journal.record(id(1), { step: "done", outcome: "submitted" });
  await Deno.remove(home.paths.journal);
  isFull = true;
  await assert.rejects(journal.record(id(2), { step: "typing" }), full);
  assert.equal(journal.state(id(2)), undefined);
  isFull = false;
  await journal.record(id(2), { step: "typing" });
  const after = await reopened(home, journal);
  assert.deepEqual([after.state(id(1))?.step, after.state(id(2))?.step], ["done", "typing"]);
  await after.close();
});
