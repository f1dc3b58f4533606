/** Node 22's warning about its SQLite is hidden from users. */
import assert from "node:assert/strict";
import { bundleForNode } from "../../scripts/bundle_for_node.ts";
import { node22 } from "../../scripts/node22.ts";

Deno.test("on Node a store opens without a warning about SQLite, and other warnings are shown [run-node]", async () => {
  const directory = await Deno.makeTempDir({ prefix: "svc-warning-" });
  try {
    const entry = new URL("store_probe.ts", import.meta.url).pathname;
    await bundleForNode({ entries: { main: entry }, outdir: `${directory}/built` });
    await Deno.writeTextFile(`${directory}/built/package.json`, `{"type":"module"}`);
    const args = [`${directory}/built/main.js`, `${directory}/data`];
    const { code, stderr } = await new Deno.Command(await node22(), { args }).output();
    const said = new TextDecoder().decode(stderr);
    assert.equal(code, 0, said);
    assert.match(said, /Warning: something else/);
    assert.doesNotMatch(said, /SQLite|Experimental/);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
