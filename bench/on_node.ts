/** `deno task bench:node [filter]`: the same rows with the built npm package on Node, which the launched svc runs on. */
import { fileURLToPath } from "node:url";
import { buildNpm } from "../scripts/build_npm.ts";
import { nodeFromNpm } from "../scripts/node22.ts";
import { prepare } from "../scripts/prepare.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGE = `${ROOT}.cache/bench-npm`;

if (!await prepare("tests")) Deno.exit(1);
const node = await nodeFromNpm(22);
await buildNpm(PACKAGE);
const bench = new Deno.Command(Deno.execPath(), {
  args: ["run", "-A", "--quiet", `${ROOT}bench/main.ts`, ...Deno.args],
  env: { SVC_TEST_LAUNCH: `${node} ${PACKAGE}/cli.js` },
});
Deno.exit((await bench.spawn().status).code);
