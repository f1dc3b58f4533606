/** Files of lines that are rotated when they are large. */
import assert from "node:assert/strict";
import { PENDING_LINES_MAX, RotatingFile } from "../../../src/home/log_files.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";

const options = (home: TempHome): ConstructorParameters<typeof RotatingFile>[1] => ({
  path: home.paths.log,
  maxBytes: 100,
  kept: 3,
});

const texts = (home: TempHome, ...suffixes: string[]): Promise<(string | undefined)[]> =>
  Promise.all(suffixes.map((suffix) => home.files.readText(home.paths.log + suffix)));

/** Fails `times` times like a full disk. */
function failing<Args extends unknown[]>(
  work: (...args: Args) => Promise<void>,
  times: number,
): (...args: Args) => Promise<void> {
  let left = times;
  return (...args) =>
    left-- > 0
      ? Promise.reject(Object.assign(new Error("No space left"), { code: "ENOSPC" }))
      : work(...args);
}

/** Writes three old files, and one that the next line makes too large. */
async function writeFullSet(home: TempHome): Promise<string> {
  for (const age of [1, 2, 3]) await home.files.writeText(`${home.paths.log}.${age}`, `old ${age}\n`);
  const text = `${"x".repeat(99)}\n`;
  await home.files.writeText(home.paths.log, text);
  return text;
}

async function appendEach(file: RotatingFile, lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    file.append(line);
    await file.flush();
  }
}

function names(home: TempHome): string[] {
  return Array.from(Deno.readDirSync(home.paths.root), ({ name }) => name).sort();
}

Deno.test("the file is rotated when it is large, three old ones are kept, no line is lost [ls-log-rotation]", async () => {
  await using home = await makeTempHome();
  const file = new RotatingFile(home.files, options(home));
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  for (const line of lines) {
    file.append(line);
    await file.flush();
  }
  await file.close();
  assert.deepEqual(names(home), ["listener.log", "listener.log.1", "listener.log.2", "listener.log.3"]);
  const all = names(home).map((name) => Deno.readTextFileSync(`${home.paths.root}/${name}`));
  const kept = all.reverse().join("").trimEnd().split("\n");
  assert.deepEqual(kept, lines.slice(-kept.length));
  assert.ok(kept.length > 30, String(kept.length));
});

Deno.test("a program with the file open, such as the daemon through its stderr, keeps writing into it", async () => {
  await using home = await makeTempHome();
  using stderr = await Deno.open(home.paths.log, { append: true, create: true });
  const file = new RotatingFile(home.files, options(home));
  file.append("x".repeat(200));
  await file.flush();
  await stderr.write(new TextEncoder().encode("crash\n"));
  file.append("after");
  await file.close();
  assert.equal(await Deno.readTextFile(home.paths.log), "crash\nafter\n");
});

Deno.test("earlier content is kept, and counts toward the size", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.log, `${"old ".repeat(24)}\n`);
  const file = new RotatingFile(home.files, options(home));
  file.append("new line");
  await file.close();
  assert.match(await Deno.readTextFile(`${home.paths.log}.1`), /^old .*\nnew line\n$/s);
});

Deno.test("lines that a full disk refuses are counted in the first line that it accepts", async () => {
  await using home = await makeTempHome();
  let isFull = true;
  const openAppend: typeof home.files.openAppend = (path, given) =>
    isFull ? Promise.reject(new Error("ENOSPC")) : home.files.openAppend(path, given);
  const file = new RotatingFile({ ...home.files, openAppend }, options(home));
  file.append("one");
  await file.flush();
  file.append("two");
  await file.flush();
  isFull = false;
  file.append("three");
  await file.close();
  assert.equal(await Deno.readTextFile(home.paths.log), "! 2 line(s) could not be written here\nthree\n");
});

Deno.test("a line that comes at any moment while earlier ones are written is written too", async () => {
  for (let turns = 0; turns < 20; turns++) {
    await using home = await makeTempHome();
    // The disk answers at once, so the write ends within these turns.
    const written: string[] = [];
    const append = (text: string | Uint8Array): Promise<void> =>
      Promise.resolve(void written.push(`${text}`));
    const opened = {
      append,
      sync: () => Promise.resolve(),
      sizeInPlace: () => Promise.resolve(0),
      close: () => {},
    };
    const files = { ...home.files, openAppend: () => Promise.resolve(opened) };
    const file = new RotatingFile(files, options(home));
    file.append("open");
    await file.flush();
    file.append("a");
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    file.append("b");
    await file.close();
    assert.equal(written.join(""), "open\na\nb\n", `after ${turns} turns`);
  }
});

Deno.test("a rotation that a full disk refuses changes no file, and is retried with the next line [ls-log-rotation]", async () => {
  await using home = await makeTempHome();
  const text = await writeFullSet(home);
  const replaceText = failing(home.files.replaceText, 2);
  const file = new RotatingFile({ ...home.files, replaceText }, options(home));
  await appendEach(file, ["one", "two"]);
  const all = ["", ".1", ".2", ".3"];
  assert.deepEqual(await texts(home, ...all), [`${text}one\ntwo\n`, "old 1\n", "old 2\n", "old 3\n"]);
  assert.equal(names(home).length, 4);
  await appendEach(file, ["three"]);
  await file.close();
  assert.deepEqual(await texts(home, ...all), ["", `${text}one\ntwo\nthree\n`, "old 1\n", "old 2\n"]);
  assert.equal(names(home).length, 4);
});

Deno.test("the copy is not retried for every line while the disk stays full", async () => {
  await using home = await makeTempHome();
  let copies = 0;
  const replaceText = (): Promise<void> => {
    copies++;
    return Promise.reject(Object.assign(new Error("No space left"), { code: "ENOSPC" }));
  };
  const file = new RotatingFile({ ...home.files, replaceText }, { ...options(home), maxBytes: 10_000 });
  await appendEach(file, ["x".repeat(10_000), ...Array.from({ length: 100 }, () => "a line of 20 bytes.")]);
  await file.close();
  // The lines add up to 2,000 bytes, and one fiftieth of the limit is 200.
  assert.ok(copies > 1 && copies <= 11, `${copies} copies`);
  assert.equal(Deno.statSync(home.paths.log).size, 12_001, "no line is lost");
});

Deno.test("a rotation that cannot empty or rename a file loses no more old files than one that works", async () => {
  for (const work of ["writeText", "rename"] as const) {
    for (const times of [1, 2, 3]) {
      await using home = await makeTempHome();
      const text = await writeFullSet(home);
      const files = { ...home.files, [work]: failing(home.files[work], times) };
      const file = new RotatingFile(files, options(home));
      const lines = ["one", "two", "three", "four"].slice(0, times + 1);
      await appendEach(file, lines.slice(0, times));
      assert.equal(names(home).length, 4);
      await appendEach(file, lines.slice(times));
      await file.close();
      const rotated = `${text}${lines.join("\n")}\n`;
      assert.deepEqual(await texts(home, "", ".1", ".2", ".3"), ["", rotated, "old 1\n", "old 2\n"], work);
    }
  }
});

Deno.test("a rotation interrupted between two names closes the gap", async () => {
  await using home = await makeTempHome();
  const text = await writeFullSet(home);
  await home.files.remove(`${home.paths.log}.1`);
  const file = new RotatingFile(home.files, options(home));
  await appendEach(file, ["one"]);
  await file.close();
  assert.deepEqual(await texts(home, "", ".1", ".2", ".3"), ["", `${text}one\n`, "old 2\n", "old 3\n"]);
});

Deno.test("a hanging disk does not fill the memory", async () => {
  await using home = await makeTempHome();
  const { promise, resolve } = Promise.withResolvers<void>();
  const openAppend: typeof home.files.openAppend = async (path, given) => {
    await promise;
    return await home.files.openAppend(path, given);
  };
  const file = new RotatingFile({ ...home.files, openAppend }, { ...options(home), maxBytes: 1e9 });
  for (let line = 0; line < 2 * PENDING_LINES_MAX + 5; line++) file.append("x");
  resolve();
  await file.close();
  const lines = (await Deno.readTextFile(home.paths.log)).trimEnd().split("\n");
  assert.ok(lines.length <= PENDING_LINES_MAX + 2, String(lines.length));
  assert.ok(lines.some((line) => /^! \d+ line\(s\) could not be written here$/.test(line)));
});

Deno.test("a file that was removed or moved in the meantime is created again, with the lines since then [ls-audit, ls-audit-mode]", async () => {
  await using home = await makeTempHome();
  const { path } = options(home);
  const file = new RotatingFile(home.files, options(home));
  await appendEach(file, ["before"]);
  await Deno.remove(path);
  await appendEach(file, ["since"]);
  await Deno.rename(path, `${path}.moved`);
  await appendEach(file, ["later"]);
  await file.close();
  assert.deepEqual(await texts(home, "", ".moved"), ["later\n", "since\n"]);
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
});
