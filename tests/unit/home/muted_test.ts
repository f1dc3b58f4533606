/** Muted projects. */
import assert from "node:assert/strict";
import { changeMuted, isMuted, loadMuted, setMuted } from "../../../src/home/muted.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

Deno.test("a project is muted and unmuted, and a change is distinguished from none [cli-mute]", async () => {
  await using home = await makeTempHome();
  const set = (directory: string, muted: boolean): Promise<boolean> =>
    setMuted(home.files, home.paths, { directory, muted });
  assert.deepEqual([await set("/p", true), await set("/p", true), await set("/a", true)], [
    true,
    false,
    true,
  ]);
  assert.deepEqual(await loadMuted(home.files, home.paths), ["/a", "/p"]);
  assert.deepEqual([await set("/p", false), await set("/p", false)], [true, false]);
  assert.deepEqual(await loadMuted(home.files, home.paths), ["/a"]);
});

Deno.test("changes at the same time are all kept, and a file of an earlier version is read [cli-mute]", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.muted, JSON.stringify({ directories: ["/old"] }));
  const add = (directory: string): Promise<boolean> =>
    changeMuted(home.files, home.paths, ({ directories, byPhone }) => ({
      directories: [...directories, directory].sort(),
      byPhone,
    }));
  await Promise.all(["/a", "/b", "/c"].map(add));
  assert.deepEqual(await loadMuted(home.files, home.paths), ["/a", "/b", "/c", "/old"]);
});

Deno.test("a directory is muted with everything below it, but not its neighbors", () => {
  assert.ok(isMuted(["/p"], "/p"));
  assert.ok(isMuted(["/p"], "/p/src/deep"));
  assert.ok(!isMuted(["/p"], "/pq"));
  assert.ok(!isMuted(["/p/src"], "/p"));
  assert.ok(isMuted(["/"], "/anything"));
  assert.ok(isMuted(["/"], ""), "a directory that is not known");
  assert.ok(!isMuted(["/p"], ""));
  assert.ok(isMuted(["/p"], "/q", "/p"), "one of several");
  assert.ok(!isMuted(["/p"]));
});

Deno.test("a damaged list mutes everything and is not overwritten: a muted project stays muted", async () => {
  await using home = await makeTempHome();
  await Deno.writeTextFile(home.paths.muted, "{broken");
  assert.ok(isMuted(await loadMuted(home.files, home.paths), "/anything"));
  const change = setMuted(home.files, home.paths, { directory: "/p", muted: false });
  await assert.rejects(change, /muted\.json".*every project counts as muted\. Remove it/);
  assert.equal(await Deno.readTextFile(home.paths.muted), "{broken");
});
