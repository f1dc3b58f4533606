/** What a wrapper run loads before the agent has the terminal: nothing that costs more than the rest together. */
import assert from "node:assert/strict";
import { CHECKOUT } from "../../helpers/sources.ts";

interface ModuleGraph {
  roots: string[];
  modules: { specifier: string; dependencies?: { isDynamic?: boolean; code?: { specifier?: string } }[] }[];
}

/** Every module that loading `path` loads with it. */
async function loadedWith(path: string): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", path],
    cwd: CHECKOUT,
  })
    .output();
  const graph: ModuleGraph = JSON.parse(new TextDecoder().decode(stdout));
  const dependencies = new Map(graph.modules.map((one) => [one.specifier, one.dependencies ?? []]));
  const found = new Set(graph.roots);
  for (const specifier of found) {
    for (const { isDynamic, code } of dependencies.get(specifier) ?? []) {
      if (!isDynamic && code?.specifier) found.add(code.specifier);
    }
  }
  return [...found];
}

for (const path of ["cli.ts", "src/cli/agent.ts", "src/cli/help.ts"]) {
  Deno.test(`${path} loads no package and no built-in module of Node [arch-lazy, dep-hot-words]`, async () => {
    const loaded = await loadedWith(path);
    assert.ok(loaded.length > 2, "the graph was read");
    assert.deepEqual(loaded.filter((specifier) => !specifier.startsWith("file:")), []);
  });
}
