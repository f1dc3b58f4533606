/** Files of lines that are put aside when they are large. */
import assert from "node:assert/strict";
import { PENDING_LINES_MAX, RotatingFile } from "../../../src/home/log_files.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";

const options = (home: TempHome): ConstructorParameters<typeof RotatingFile>[1] => ({
  path: home.paths.log,
  maxBytes: 100,
  kept: 3,
});

function names(home: TempHome): string[] {
  return Array.from(Deno.readDirSync(home.paths.root), ({ name }) => name).sort();
}

Deno.test("the file is put aside when it is large, three old ones are kept, no line is lost [ls-log-rotation]", async () => {
  await using home = await makeTempHome();
  const file = new RotatingFile(home.files, options(home));
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  for (const line of lines) {
    file.append(line);
    await file.flush();
  }
  await file.close();
  assert.deepEqual(names(home), ["listener.log", "listener.log.1", "listener.log.2", "listener.log.3"]);
  const texts = names(home).map((name) => Deno.readTextFileSync(`${home.paths.root}/${name}`));
  const kept = texts.reverse().join("").trimEnd().split("\n");
  assert.deepEqual(kept, lines.slice(-kept.length));
  assert.ok(kept.length > 30, String(kept.length));
});

Deno.test("who holds the file open, as the daemon's stderr does, goes on writing into it", async () => {
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

Deno.test("what was there before is kept, and counts", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.log, `${"old ".repeat(24)}\n`);
  const file = new RotatingFile(home.files, options(home));
  file.append("new line");
  await file.close();
  assert.match(await Deno.readTextFile(`${home.paths.log}.1`), /^old .*\nnew line\n$/s);
});

Deno.test("lines that a full disk refuses are counted in the first line that it takes", async () => {
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

Deno.test("a disk that stands still does not fill the memory", async () => {
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
