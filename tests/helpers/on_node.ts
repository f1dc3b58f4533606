/** Runs one body of test cases on Deno and, bundled, on real Node. */

import { fileURLToPath } from "node:url";
import type { Runtime } from "../../src/runtime/types.ts";
import { bundleForNode } from "../../scripts/bundle_for_node.ts";
import { node22 } from "../../scripts/node22.ts";

/** A test that gets its runtime as a parameter. `directory` is empty, and removed afterwards. */
export interface Case {
  name: string;
  run(runtime: Runtime, directory: string): Promise<void> | void;
}

/** One line of the JSON that the program on Node prints. */
interface CaseResult {
  name: string;
  /** The failure's stack; absent if the case passed. */
  failure?: string;
}

const RUNNER_PATH = fileURLToPath(new URL("node_runner.ts", import.meta.url));

async function bundle(entryUrl: string, directory: string): Promise<string> {
  const main = `${directory}/main.ts`;
  const paths = { cases: fileURLToPath(entryUrl), runner: RUNNER_PATH };
  await Deno.writeTextFile(
    main,
    `import { cases } from ${JSON.stringify(paths.cases)};\n` +
      `import { runAll } from ${JSON.stringify(paths.runner)};\n` +
      `await runAll(cases);\n`,
  );
  await bundleForNode({ entries: { main }, outdir: `${directory}/built` });
  await Deno.writeTextFile(`${directory}/built/package.json`, `{"type":"module"}`);
  return `${directory}/built/main.js`;
}

/**
 * Runs the cases that the module at `entryUrl` exports as `cases` under Node 22 or later.
 *
 * @returns one result per case, in order
 * @throws when the module cannot be bundled or Node ends before the last case
 */
export async function runCasesOnNode(entryUrl: string): Promise<CaseResult[]> {
  const directory = await Deno.makeTempDir({ prefix: "svc-on-node-" });
  try {
    const program = await bundle(entryUrl, directory);
    const args = ["--disable-warning=ExperimentalWarning", program];
    const output = await new Deno.Command(await node22(), { args, env: { TMPDIR: directory } }).output();
    const [stdout, stderr] = [output.stdout, output.stderr].map((bytes) => new TextDecoder().decode(bytes));
    if (!output.success) throw new Error(`node ended with ${output.code}:\n${stderr}\n${stdout}`);
    return (stdout ?? "").trimEnd().split("\n").map((line) => JSON.parse(line) as CaseResult);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/**
 * Registers every case as a test on Deno and as a step of one test on Node.
 *
 * @param title the prefix of the tests' names
 * @param entryUrl the module that exports the same cases as `cases`
 */
export async function testOnBothRuntimes(title: string, entryUrl: string): Promise<void> {
  const { cases }: { cases: readonly Case[] } = await import(entryUrl);
  const { runtime } = await import("../../src/runtime/deno.ts");
  for (const { name, run } of cases) {
    Deno.test(`${title} on deno: ${name}`, async () => {
      const directory = await Deno.makeTempDir({ prefix: "svc-case-" });
      try {
        await run(runtime, directory);
      } finally {
        await Deno.remove(directory, { recursive: true });
      }
    });
  }
  Deno.test(`${title} on node`, async (test) => {
    for (const { name, failure } of await runCasesOnNode(entryUrl)) {
      await test.step(name, () => {
        if (failure !== undefined) throw new Error(failure);
      });
    }
  });
}
