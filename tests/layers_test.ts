/** Checks the rules of the tree against the real sources, and shows each rule fail on a made-up source. */

import assert from "node:assert/strict";
import { run } from "./helpers/run.ts";
import { CHECKOUT, readSources } from "./helpers/sources.ts";
import { type Facts, readFacts } from "./layers/facts.ts";
import * as rules from "./layers/rules.ts";

/** Why a file has over 450 lines or a function over 60, by `path` or `path name`. */
const REASONS: Readonly<Record<string, string>> = {};

/** Why a file may wait for a fixed time. */
const SLEEPERS: Readonly<Record<string, string>> = {
  "tests/helpers/until.ts": "the one loop that others wait with",
  "tests/helpers/inject_bench.ts": "an injection's own pauses, shortened",
  "tests/soak/soak.ts": "the minutes of use between two cuts",
  "tests/agents/capture_screens.ts": "a tool that records screens of real agents, run by hand",
  "tests/agents/state_truth.ts": "a script that keeps each state for a while, so that the list can show it",
};

const read = async (folder: string): Promise<Facts[]> =>
  (await readSources(folder)).map(({ path, text }) => readFacts(path, text));

const sources = await read("src");
const tests = await read("tests");

function made(path: string, text: string): Facts[] {
  return [readFacts(path, text)];
}

Deno.test("imports point down, and programs do not import one another [arch-layers, arch-programs]", () => {
  assert.deepEqual(rules.layerBreaches(sources), []);
});

interface ModuleGraph {
  roots: string[];
  modules: { specifier: string; dependencies?: { isDynamic?: boolean; code?: { specifier: string } }[] }[];
}

/** Returns the modules loaded together with a file, without types and without dynamic imports. */
async function loadedWith(path: string): Promise<string[]> {
  const { stdout } = await run([Deno.execPath(), "info", "--json", path], { cwd: CHECKOUT });
  const graph: ModuleGraph = JSON.parse(stdout);
  const modules = new Map(graph.modules.map(({ specifier, dependencies = [] }) => [specifier, dependencies]));
  const loaded = new Set(graph.roots);
  for (const specifier of loaded) {
    for (const { isDynamic, code } of modules.get(specifier) ?? []) {
      if (!isDynamic && code !== undefined) loaded.add(code.specifier);
    }
  }
  return [...loaded];
}

Deno.test("the code that starts an agent's session and the code of a hook load no package: each would slow every start", async () => {
  for (const path of ["src/cli/agent.ts", "src/cli/hook.ts"]) {
    const loaded = await loadedWith(path);
    assert.ok(loaded.length > 5);
    assert.deepEqual(loaded.filter((specifier) => specifier.includes("/node_modules/")), [], path);
  }
});

Deno.test("every imported file exists, dynamic imports included [arch-layers]", () => {
  assert.deepEqual(rules.missingBreaches(sources, sources.map(({ path }) => path)), []);
  const lost = made("src/cli/x.ts", 'export const load = () => import("./gone.ts");');
  assert.deepEqual(rules.missingBreaches(lost, []), [
    "src/cli/x.ts imports src/cli/gone.ts, which does not exist",
  ]);
});

Deno.test("Deno and Node are named in src/runtime alone [arch-runtime, style-no-sniffing]", () => {
  assert.deepEqual(rules.runtimeBreaches(sources), []);
});

Deno.test("the program imports only its commands, the library only protocol, client, sealed channel and the parts that embed svc", async () => {
  const paths = Object.keys(rules.ENTRIES);
  const entries = await Promise.all(
    paths.map(async (path) => readFacts(path, await Deno.readTextFile(CHECKOUT + path))),
  );
  assert.deepEqual(rules.entryBreaches(entries), []);
  assert.deepEqual(rules.runtimeBreaches(entries), []);
});

Deno.test("browser code imports only browser-safe folders", () => {
  assert.deepEqual(rules.browserBreaches(sources), []);
});

Deno.test("no file over 500 lines, no function over 80, and long ones with a reason [style-sizes]", () => {
  assert.deepEqual(
    rules.sizeBreaches([...sources, ...tests.map((file) => ({ ...file, functions: [] }))]),
    [],
  );
  assert.deepEqual(rules.longOnes(sources).sort(), Object.keys(REASONS).sort());
});

Deno.test("two parameters, then an object of options", () => {
  assert.deepEqual(rules.parameterBreaches(sources), []);
});

Deno.test("files are snake_case and unit tests mirror the sources [style-names]", () => {
  const paths = [...sources, ...tests].map(({ path }) => path);
  assert.deepEqual(rules.namingBreaches(paths), []);
  const units = paths.filter((path) => path.startsWith("tests/unit/"));
  assert.deepEqual(rules.mirrorBreaches(units, sources.map(({ path }) => path)), []);
});

Deno.test("every source begins with a sentence on its purpose [style-duty]", () => {
  assert.deepEqual(rules.dutyBreaches([...sources, ...tests]), []);
});

Deno.test("no enum, no any, no default export, no silenced check [style-syntax]", () => {
  assert.deepEqual(rules.syntaxBreaches(sources), []);
});

Deno.test("no test sleeps [style-no-sleep]", () => {
  assert.deepEqual(rules.sleepBreaches(tests.filter(({ path }) => SLEEPERS[path] === undefined)), []);
});

Deno.test("no test judges by elapsed time [perf-no-verdict]", () => {
  const others = tests.filter(({ path }) => path !== "tests/layers_test.ts" && SLEEPERS[path] === undefined);
  assert.deepEqual(rules.timedBreaches(others), []);
});

Deno.test("an import that points up is found, in every form", () => {
  const spellings = [
    'import { a } from "../cli/a.ts";',
    'import type { A } from "../cli/a.ts";',
    'export { a } from "../cli/a.ts";',
    'export * from "../cli/a.ts";',
    'const a = await import("../cli/a.ts");',
    'type A = import("../cli/a.ts").A;',
  ];
  for (const text of spellings) {
    assert.deepEqual(rules.layerBreaches(made("src/relay/b.ts", text)), [
      "src/relay/b.ts (layer 3) imports src/cli/a.ts (layer 4): imports point down",
    ]);
  }
  assert.deepEqual(rules.layerBreaches(made("src/cli/b.ts", 'import "../relay/a.ts";')), []);
  assert.deepEqual(
    rules.layerBreaches(made("src/home/b.ts", 'import "../tmux/a.ts";\nimport "#runtime";')),
    [],
  );
});

Deno.test("an import between programs, out of src, or of an unplaced folder is found", () => {
  const [between] = rules.layerBreaches(made("src/relay/b.ts", 'import "../listener/a.ts";'));
  assert.match(between ?? "", /never import one another/);
  const [outside] = rules.layerBreaches(made("src/relay/b.ts", 'import "../../tests/a.ts";'));
  assert.match(outside ?? "", /outside src/);
  assert.match(rules.layerBreaches(made("src/other/b.ts", ""))[0] ?? "", /in no layer/);
});

Deno.test("the name of a runtime outside src/runtime is found", () => {
  const text = [
    "const other = { Deno: 1 }; other.Deno;",
    "Deno.exit(1);",
    "const process = { pid: 1 }; process.pid;",
    "process.env.HOME;",
    'typeof Deno === "object";',
    'import "node:fs";',
    'import "../runtime/deno.ts";',
    'import "../runtime/types.ts";',
  ].join("\n");
  assert.deepEqual(rules.runtimeBreaches(made("src/relay/b.ts", text)), [
    "src/relay/b.ts:2 names a runtime's global: use #runtime",
    "src/relay/b.ts:4 names a runtime's global: use #runtime",
    "src/relay/b.ts:5 names a runtime's global: use #runtime",
    "src/relay/b.ts imports node:fs: only src/runtime may",
    "src/relay/b.ts imports src/runtime/deno.ts: write #runtime",
  ]);
  assert.deepEqual(rules.runtimeBreaches(made("src/runtime/b.ts", text)), []);
});

Deno.test("a browser's import of the runtime or of a program is found", () => {
  assert.equal(rules.browserBreaches(made("src/client/b.ts", 'import "#runtime";')).length, 1);
  assert.equal(rules.browserBreaches(made("src/phone/b.ts", 'import "../relay/a.ts";')).length, 1);
  assert.deepEqual(rules.browserBreaches(made("src/phone/b.ts", 'import "../client/a.ts";')), []);
});

Deno.test("long files and functions are found", () => {
  const body = (lines: number): string => `function f() {\n${"  g();\n".repeat(lines - 2)}}\n`;
  assert.deepEqual(rules.sizeBreaches(made("src/a/b.ts", body(80))), []);
  assert.match(rules.sizeBreaches(made("src/a/b.ts", body(81)))[0] ?? "", /f has 81 lines/);
  assert.match(rules.sizeBreaches(made("src/a/b.ts", "g();\n".repeat(501)))[0] ?? "", /has 501 lines/);
  assert.deepEqual(rules.longOnes(made("src/a/b.ts", body(60))), []);
  assert.deepEqual(rules.longOnes(made("src/a/b.ts", body(61) + "g();\n".repeat(390))), [
    "src/a/b.ts",
    "src/a/b.ts f",
  ]);
});

Deno.test("a third plain parameter, bad names, a missing duty and forbidden syntax are found", () => {
  assert.equal(rules.parameterBreaches(made("src/a/b.ts", "const f = (a, b, c, d) => a;")).length, 1);
  assert.equal(rules.namingBreaches(["src/a/someFile.ts", "src/a-b/c.ts", "src/a/b_2.tsx"]).length, 2);
  assert.equal(rules.dutyBreaches(made("src/a/b.ts", "// a\n/** b */")).length, 1);
  assert.deepEqual(rules.dutyBreaches(made("src/a/b.ts", "#!/usr/bin/env node\n/** Duty. */")), []);
  const bad = "enum E {}\nlet a: any;\nexport default a;\n// deno-lint-" + "ignore";
  assert.equal(rules.syntaxBreaches(made("src/a/b.ts", bad)).length, 4);
});

Deno.test("a unit test outside the folders of src is found", () => {
  const tested = ["tests/unit/a/b_test.ts", "tests/unit/c/b_test.ts"];
  assert.deepEqual(rules.mirrorBreaches(tested, ["src/a/d.ts"]), [
    "tests/unit/c/b_test.ts mirrors nothing: src has no such folder",
  ]);
});

Deno.test("a sleep is found, a timer that does something is not", () => {
  const sleeps =
    "await new Promise((resolve) => setTimeout(resolve, 10));\nawait new Promise(function (r) {\nsetTimeout(r, 1) });";
  assert.equal(rules.sleepBreaches(made("tests/b.ts", sleeps)).length, 2);
  const timer =
    "new Promise((resolve, reject) => setTimeout(() => reject(new Error()), 10)); setTimeout(stop, 5);";
  assert.deepEqual(rules.sleepBreaches(made("tests/b.ts", timer)), []);
});

Deno.test("an assertion on elapsed time and an entry's forbidden import are found", () => {
  const texts = ["if (Date.now() - start > 5) fail();", "assert.ok(performance.now() < limit);"];
  for (const text of texts) assert.equal(rules.timedBreaches(made("tests/b_test.ts", text)).length, 1, text);
  assert.deepEqual(rules.timedBreaches(made("tests/b_test.ts", "const at = Date.now() - 5;")), []);
  assert.equal(rules.entryBreaches(made("mod.ts", 'export * from "./src/relay/a.ts";')).length, 1);
});
