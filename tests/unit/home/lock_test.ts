/** The lock, which the kernel releases when its holder ends. */
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { tryLock } from "../../../src/home/lock.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

const HOLDER = `
  import { runtime } from "#runtime";
  import { tryLock } from "${new URL("../../../src/home/lock.ts", import.meta.url)}";
  const lock = await tryLock(runtime.files, Deno.args[0]);
  console.log(lock ? "held" : "refused");
  if (lock) await new Promise(() => setInterval(() => lock, 60_000));
`;

/** Starts another process that takes the lock and keeps it. */
async function startHolder(path: string): Promise<{ said: string; kill(): Promise<void> }> {
  const script = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(script, HOLDER);
  const config = fileURLToPath(new URL("../../../deno.json", import.meta.url));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", "--config", config, script, path],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  return {
    said: new TextDecoder().decode(value).trim(),
    async kill() {
      child.kill("SIGKILL");
      await child.status;
      await reader.cancel();
      await Deno.remove(script);
    },
  };
}

Deno.test("the lock has one holder at a time, and can be taken again after its release [ls-lock]", async () => {
  await using home = await makeTempHome();
  const first = await tryLock(home.files, home.paths.lock);
  assert.ok(first);
  assert.equal(await tryLock(home.files, home.paths.lock), undefined);
  first.release();
  const second = await tryLock(home.files, home.paths.lock);
  assert.ok(second);
  second.release();
});

Deno.test("another process sees the lock, and gets it after the holder was killed [ls-lock]", async () => {
  await using home = await makeTempHome();
  const holder = await startHolder(home.paths.lock);
  assert.equal(holder.said, "held");
  assert.equal(await tryLock(home.files, home.paths.lock), undefined);
  await holder.kill();
  const lock = await tryLock(home.files, home.paths.lock);
  assert.ok(lock);
  lock.release();
  const left = Array.from(Deno.readDirSync(home.paths.root), ({ name }) => name);
  assert.deepEqual(left, ["listener.lock"]);
});

Deno.test("junk in the lock's file neither keeps it from being taken nor releases it", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.lock, "this is no database, and longer than its header".repeat(10));
  const lock = await tryLock(home.files, home.paths.lock);
  assert.ok(lock);
  assert.equal(await tryLock(home.files, home.paths.lock), undefined);
  lock.release();
});

Deno.test("the lock's file is for the owner only", async () => {
  await using home = await makeTempHome();
  (await tryLock(home.files, home.paths.lock))?.release();
  assert.equal((await Deno.stat(home.paths.lock)).mode! & 0o777, 0o600);
});
