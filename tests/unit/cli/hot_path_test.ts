/** What a wrapper run or a hook loads first: nothing that would cost more than everything else together. */
import assert from "node:assert/strict";
import { AGENT_KINDS, loadHooks } from "../../../src/agents/registry.ts";
import { CHECKOUT } from "../../helpers/sources.ts";

interface ModuleGraph {
  roots: string[];
  modules: { specifier: string; dependencies?: { code?: { specifier?: string }; isDynamic?: boolean }[] }[];
}

/** Returns every module loaded together with `path`, without those that only an `import()` loads. */
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
    for (const { code, isDynamic } of dependencies.get(specifier) ?? []) {
      if (code?.specifier && !isDynamic) found.add(code.specifier);
    }
  }
  return [...found];
}

const HOT = [
  "cli.ts",
  "src/cli/main.ts",
  "src/cli/agent.ts",
  "src/cli/hook.ts",
  "src/hooks/run_hook.ts",
  "src/hooks/follow_remote.ts",
];

for (const path of HOT) {
  Deno.test(`${path} loads no package and no built-in module of Node [arch-lazy, dep-hot-words]`, async () => {
    const loaded = await loadedWith(path);
    assert.ok(loaded.length > 2, "the graph was read");
    assert.deepEqual(loaded.filter((specifier) => !specifier.startsWith("file:")), []);
  });
}

/** An agent waits for the loading of each before each tool call. */
const HOOK_MODULES_MAX = 16;

Deno.test("the hook of a tool call loads few modules [perf-hook]", async () => {
  const parts = ["cli.ts", "src/cli/hook.ts", "src/agents/gemini/hooks.ts"];
  const loaded = new Set((await Promise.all(parts.map(loadedWith))).flat());
  assert.ok(loaded.size <= HOOK_MODULES_MAX, [...loaded].join("\n"));
});

for (const kind of AGENT_KINDS) {
  Deno.test(`the modules of ${kind} that a hook or the wrapper loads load no package [arch-lazy, dep-hot-words]`, async () => {
    const folder = kind === "cc" ? "claude" : kind;
    const parts = await loadHooks(kind) === undefined ? ["profile"] : ["profile", "hooks"];
    for (const part of parts) {
      const loaded = await loadedWith(`src/agents/${folder}/${part}.ts`);
      assert.ok(loaded.length > 1, "the graph was read");
      assert.deepEqual(loaded.filter((specifier) => !specifier.startsWith("file:")), []);
    }
  });
}

Deno.test("a module that only an import() names is not read before that runs [arch-lazy]", async () => {
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--log-level=debug", "cli.ts", "--version"],
    cwd: CHECKOUT,
  }).output();
  const read = new Set(
    [...new TextDecoder().decode(stderr).matchAll(/specifier: file:\S*?\/((?:src\/|cli\.ts)\S*)/g)].map((
      [, path],
    ) => path),
  );
  for (const path of ["cli.ts", "src/cli/main.ts", "src/protocol/version.ts"]) {
    assert.ok(read.has(path), `the log names ${path}`);
  }
  for (const path of ["src/cli/agent.ts", "src/cli/server.ts", "src/cli/hook.ts"]) {
    assert.ok(!read.has(path), `${path} was read`);
  }
});
