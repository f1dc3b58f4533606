/** The daemon's lock is the same lock on both runtimes. */
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { runtime } from "#runtime";
import { tryLock } from "../../src/home/lock.ts";
import { buildForNode } from "../helpers/node_build.ts";
import { makeTempHome } from "../helpers/temp_home.ts";

const PROBE = fileURLToPath(new URL("lock_probe.ts", import.meta.url));

interface Probe {
  said: string;
  end(signal: "SIGKILL" | undefined): Promise<void>;
}

async function start([program = "", ...args]: string[], path: string): Promise<Probe> {
  const child = new Deno.Command(program, {
    args: [...args, path],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  return {
    said: new TextDecoder().decode(value).trim(),
    async end(signal) {
      if (signal) child.kill(signal);
      await child.stdin.close().catch(() => {});
      await child.status;
      await reader.cancel();
    },
  };
}

Deno.test("Node sees Deno's lock, Deno sees Node's, and a killed holder frees it [ls-lock]", async () => {
  await using home = await makeTempHome();
  const program = await buildForNode(PROBE, { folder: `${home.directory}/built` });

  const held = await tryLock(home.files, home.paths.lock);
  const refused = await start(program, home.paths.lock);
  assert.equal(refused.said, "refused");
  await refused.end(undefined);
  held?.release();

  const holder = await start(program, home.paths.lock);
  assert.equal(holder.said, "held");
  assert.equal(await tryLock(runtime.files, home.paths.lock), undefined);
  await holder.end("SIGKILL");
  const freed = await tryLock(home.files, home.paths.lock);
  assert.ok(freed);
  freed.release();
});
