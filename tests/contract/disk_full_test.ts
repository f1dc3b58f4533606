/** A full disk: acknowledged pushes are stored, the rest is refused. */
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";

/** In blocks of 512 bytes (POSIX): about 4 MB per file. */
const FILE_LIMIT_BLOCKS = 8_000;

Deno.test("a full disk is StoreUnavailable and not ready, and exactly what was acknowledged is stored [http-503, http-2xx-stored, http-health]", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "svc-full-" });
  try {
    const program = fileURLToPath(new URL("disk_full_probe.ts", import.meta.url));
    const config = fileURLToPath(new URL("../../deno.json", import.meta.url));
    // With the signal ignored, a write beyond the limit fails as on a full disk.
    const limited = `trap "" XFSZ; ulimit -f ${FILE_LIMIT_BLOCKS}; exec "$@"`;
    const args = [
      "-c",
      limited,
      "sh",
      Deno.execPath(),
      "run",
      "-A",
      "--quiet",
      "--config",
      config,
      program,
      dataDir,
    ];
    const { code, stdout, stderr } = await new Deno.Command("sh", { args }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    const { unavailable, ready, kept, stored, why } = JSON.parse(new TextDecoder().decode(stdout));
    assert.ok(unavailable, why);
    assert.deepEqual(ready, [true, false]);
    assert.ok(kept.length > 0);
    assert.deepEqual(stored, kept);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
