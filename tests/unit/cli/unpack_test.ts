/** What a single program writes into the home, for agents and the relay to find. */
import assert from "node:assert/strict";
import { unpack } from "../../../src/cli/unpack.ts";
import type { EmbeddedFiles } from "../../../src/runtime/types.ts";
import { makeTempHome } from "../../helpers/temp_home.ts";

function embeddedOf(parts: Record<string, string>): EmbeddedFiles {
  return {
    names: () => Promise.resolve(Object.keys(parts)),
    read: (name) => Promise.resolve(new TextEncoder().encode(parts[name])),
  };
}

const FIRST = embeddedOf({ "plugin/svc.sh": "#!/bin/sh\n", "dist/phone/index.html": "one", "gone": "x" });
const SECOND = embeddedOf({ "plugin/svc.sh": "#!/bin/sh\n", "dist/phone/index.html": "two" });

Deno.test("a single program's files are written once, scripts are executable, and an upgrade replaces all at the same path [pkg-unpack]", async () => {
  await using home = await makeTempHome();
  const place = { files: home.files, root: home.paths.root };
  const folder = await unpack(FIRST, place);
  assert.equal((await home.files.info(`${folder}/plugin/svc.sh`))?.mode, 0o700);
  assert.equal(await home.files.readText(`${folder}/dist/phone/index.html`), "one");
  await home.files.writeText(`${folder}/mine`, "kept while nothing changes");
  assert.equal(await unpack(FIRST, place), folder);
  assert.equal(await home.files.readText(`${folder}/mine`), "kept while nothing changes");
  assert.equal(await unpack(SECOND, place), folder);
  assert.equal(await home.files.readText(`${folder}/dist/phone/index.html`), "two");
  for (const name of ["mine", "gone"]) assert.equal(await home.files.info(`${folder}/${name}`), undefined);
});

Deno.test("processes that start at once leave one complete folder and nothing next to it [pkg-unpack]", async () => {
  await using home = await makeTempHome();
  const place = { files: home.files, root: home.paths.root };
  await Promise.all(Array.from({ length: 8 }, () => unpack(SECOND, place)));
  const beside = (await home.files.list(home.paths.root)).filter((name) => name.startsWith("package"));
  assert.deepEqual(beside, ["package"]);
  const inside = await home.files.list(`${home.paths.root}/package`);
  assert.deepEqual(inside.toSorted(), ["digest", "dist", "plugin"]);
});
