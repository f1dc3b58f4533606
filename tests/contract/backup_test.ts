/** A backup of a store that another process writes to without a pause, and one onto a full disk. */
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { say } from "../../scripts/say.ts";
import { backupStore, openStore } from "../../src/store/sqlite.ts";
import { mountSmallDisk } from "../helpers/small_disk.ts";
import { pageOf } from "./store_samples.ts";

const PROBE = fileURLToPath(new URL("backup_probe.ts", import.meta.url));

Deno.test("a backup ends although the relay never stops writing, and has all that was stored before it [rl-backup]", async () => {
  const directory = await Deno.makeTempDir({ prefix: "svc-backup-" });
  try {
    const writer = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-check", PROBE, `${directory}/data`],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const lines = writer.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const stored = Number((await lines.read()).value);
    assert.ok(stored > 0);
    await backupStore(`${directory}/data`, `${directory}/relay.db`);
    await writer.stdin.close();
    assert.equal((await lines.read()).value?.trim(), "until closed");
    await lines.cancel();
    await writer.status;
    const copy = await openStore(directory);
    const pushes = await pageOf(copy, { account: "a", limit: 10_000 });
    assert.ok((pushes?.length ?? 0) >= stored, String(pushes?.length));
    await copy.close();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("a backup onto a full disk says that, and leaves nothing there [rl-backup]", async () => {
  const directory = await Deno.makeTempDir({ prefix: "svc-backup-" });
  const folder = `${directory}/disk`;
  await Deno.mkdir(folder);
  const disk = await mountSmallDisk(folder);
  try {
    if (disk === undefined) return say("skipped: this account may not mount a disk");
    await (await openStore(`${directory}/data`)).close();
    await disk.fill();
    await assert.rejects(
      backupStore(`${directory}/data`, `${folder}/copy.db`),
      /Cannot back up to ".*copy\.db": .*disk is full\. Make room there, or name another file\.$/,
    );
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["filler"]);
  } finally {
    await disk?.[Symbol.asyncDispose]();
    await Deno.remove(directory, { recursive: true });
  }
});
