/** The helper that runs cases on both runtimes must itself be able to fail. */

import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { runCasesOnNode } from "../helpers/on_node.ts";

async function runText(text: string): Promise<Awaited<ReturnType<typeof runCasesOnNode>>> {
  const path = await Deno.makeTempFile({ prefix: "svc-cases-", suffix: ".ts" });
  try {
    await Deno.writeTextFile(path, text);
    return await runCasesOnNode(pathToFileURL(path).href);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("cases run on Node with its runtime, and a failing one is reported [style-one-body]", async () => {
  const results = await runText(`
    export const cases = [
      { name: "runtime", run: (runtime) => { if (runtime.name !== "node") throw new Error(runtime.name); } },
      { name: "fails", run: async () => { await null; throw new Error("on purpose"); } },
      { name: "has its directory", run: async ({ files }, directory) => files.writeText(directory + "/a", "") },
    ];`);
  assert.deepEqual(results.map(({ name }) => name), ["runtime", "fails", "has its directory"]);
  assert.deepEqual(results.map(({ failure }) => failure?.split("\n")[0]), [
    undefined,
    "Error: on purpose",
    undefined,
  ]);
});

Deno.test("a case that ends the process does not pass for the rest", async () => {
  const text = `export const cases = [{ name: "exits", run: (runtime) => runtime.exit(3) }];`;
  await assert.rejects(runText(text), /node ended with 3/);
});
