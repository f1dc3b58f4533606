/** REMOTE mode's files: a small one per conversation. */
import assert from "node:assert/strict";
import {
  CONVERSATIONS_MAX,
  readRemote,
  type RemoteHome,
  writeRemote,
} from "../../../src/home/remote_mode.ts";
import { makeTempHome, type TempHome } from "../../helpers/temp_home.ts";

const remoteOf = ({ files, paths }: TempHome): RemoteHome => ({ files, remote: paths.remote });

Deno.test("a state is kept only for its conversation, in a file for the owner only", async () => {
  await using home = await makeTempHome();
  const remote = remoteOf(home);
  const one = { agent: "codex", id: "1" };
  assert.equal(await readRemote(remote, one), "off");
  await writeRemote(remote, one, "on");
  assert.equal(await readRemote(remote, one), "on");
  assert.equal(await readRemote(remote, { agent: "cc", id: "1" }), "off");
  const [name] = await home.files.list(remote.remote);
  assert.equal((await Deno.stat(`${remote.remote}/${name}`)).mode! & 0o777, 0o600);
  await writeRemote(remote, one, "untold");
  assert.equal(await readRemote(remote, one), "untold");
  await writeRemote(remote, one, "off");
  assert.deepEqual(await home.files.list(remote.remote), []);
});

Deno.test("an id that looks like a path names no other file", async () => {
  await using home = await makeTempHome();
  const remote = remoteOf(home);
  for (const id of ["../../escape", "a/b", "x".repeat(1_000), "", "ü"]) {
    await writeRemote(remote, { agent: "cc", id }, "on");
    assert.equal(await readRemote(remote, { agent: "cc", id }), "on");
  }
  assert.equal((await home.files.list(remote.remote)).length, 5);
});

Deno.test("the oldest conversations are removed when there are too many", async () => {
  await using home = await makeTempHome();
  const remote = remoteOf(home);
  await writeRemote(remote, { agent: "cc", id: "old" }, "on");
  await Deno.utime(`${remote.remote}/cc.old`, 1, 1);
  const others = Array.from(
    { length: CONVERSATIONS_MAX },
    (_, at) => writeRemote(remote, { agent: "cc", id: `${at}` }, "on"),
  );
  await Promise.all(others);
  await writeRemote(remote, { agent: "cc", id: "new" }, "on");
  assert.ok((await home.files.list(remote.remote)).length <= CONVERSATIONS_MAX + 1);
  assert.equal(await readRemote(remote, { agent: "cc", id: "old" }), "off");
  assert.equal(await readRemote(remote, { agent: "cc", id: "new" }), "on");
});
