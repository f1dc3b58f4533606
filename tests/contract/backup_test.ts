/** A backup of a store that another process writes to without a pause. */
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { backupStore, openStore } from "../../src/store/sqlite.ts";
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
