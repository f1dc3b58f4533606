/** Node 22's warning about its SQLite is hidden from users. */
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { buildForNode } from "../helpers/node_build.ts";
import { run } from "../helpers/run.ts";

Deno.test("on Node a store opens without a warning about SQLite, but other warnings are shown [run-node]", async () => {
  const directory = await Deno.makeTempDir({ prefix: "svc-warning-" });
  try {
    const entry = fileURLToPath(new URL("store_probe.ts", import.meta.url));
    const program = await buildForNode(entry, { folder: `${directory}/built` });
    const { code, stderr } = await run([...program, `${directory}/data`]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /Warning: something else/);
    assert.doesNotMatch(stderr, /SQLite|Experimental/);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
