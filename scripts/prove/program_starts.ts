/** How long `svc --version` takes for each way of installing, measured in turn, and the sizes of the programs. */
import { fileURLToPath } from "node:url";
import { compileWithNode } from "../compile.ts";
import { buildNpm } from "../build_npm.ts";
import { nodeFromNpm } from "../node22.ts";
import { say } from "../say.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ROUNDS = 30;

async function timeOf(argv: readonly string[]): Promise<number> {
  const [program = "", ...args] = argv;
  const begun = performance.now();
  const { success } = await new Deno.Command(program, { args: [...args, "--version"], stdout: "null" })
    .output();
  if (!success) throw new Error(`${argv.join(" ")} --version failed`);
  return performance.now() - begun;
}

const folder = await Deno.makeTempDir({ prefix: "svc-starts-" });
try {
  await buildNpm(`${folder}/npm`);
  const cli = `${folder}/npm/cli.js`;
  const config = ["--config", `${ROOT}deno.json`];
  const program = await compileWithNode(folder);
  const ways: Record<string, string[]> = {
    "single program": [program],
    "npm on Node 22": [await nodeFromNpm(22), cli],
    "npm on Node 24": [await nodeFromNpm(24), cli],
    "checkout on Deno": [Deno.execPath(), "run", "-A", "--quiet", ...config, `${ROOT}cli.ts`],
    "npm package on Deno": [Deno.execPath(), "run", "-A", "--quiet", cli],
  };
  const times = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, argv] of Object.entries(ways)) times.get(name)?.push(await timeOf(argv));
  }
  for (const [name, all] of times) {
    const [least = 0, median = 0] = [0, ROUNDS / 2].map((at) =>
      all.toSorted((one, other) => one - other)[at]
    );
    say(`start ${name}: ${least.toFixed(0)} ms at least, ${median.toFixed(0)} ms at the median of ${ROUNDS}`);
  }
  const { size } = await Deno.stat(program);
  say(`size single program: ${(size / 1e6).toFixed(1)} MB`);
} finally {
  await Deno.remove(folder, { recursive: true });
}
