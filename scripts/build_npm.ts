/** Builds the npm package and runs what it built under Node: `deno run -A scripts/build_npm.ts [folder]`. */

import config from "../deno.json" with { type: "json" };
import { buildPhone } from "./build_phone.ts";
import { bundleForNode } from "./bundle_for_node.ts";
import { emitDeclarations } from "./declarations.ts";
import { node22, OLDEST_NODE } from "./node22.ts";
import { say } from "./say.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const SHEBANG = "#!/usr/bin/env node\n";
/** Files that are copied unchanged. */
const PAPERS = ["README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"];

/** The declarations name zod's types, so a user's compiler must find them; the code of every dependency is bundled. */
function packageJson(): Record<string, unknown> {
  const zod = config.imports.zod.replace("npm:zod@", "");
  return {
    name: config.name,
    version: config.version,
    description: "Type into a terminal coding agent from your phone",
    license: config.license,
    type: "module",
    bin: { svc: "cli.js" },
    exports: { ".": { types: "./types/mod.d.ts", default: "./mod.js" } },
    engines: { node: `>=${OLDEST_NODE}` },
    os: ["linux", "darwin"],
    dependencies: { zod },
  };
}

/** The package's shebang: the source's own names another runtime. */
async function setShebang(path: string): Promise<void> {
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, SHEBANG + text.replace(/^#!.*\n/, ""));
  await Deno.chmod(path, 0o755);
}

/** Runs a program to its end; returns its output, or throws with it. */
async function run(argv: readonly string[], cwd: string): Promise<string> {
  const [program = "", ...args] = argv;
  const output = await new Deno.Command(program, { args, cwd }).output();
  const [stdout, stderr] = [output.stdout, output.stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (output.success) return stdout ?? "";
  throw new Error(`${argv.join(" ")}: exit code ${output.code}\n${stderr}`);
}

/** Keeps the files' modes, since some are executable scripts. */
async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Replaces the content of `outDir` by a complete package. */
export async function buildNpm(outDir: string): Promise<void> {
  await Deno.mkdir(outDir, { recursive: true });
  for await (const { name } of Deno.readDir(outDir)) {
    await Deno.remove(`${outDir}/${name}`, { recursive: true });
  }
  await bundleForNode({
    entries: { cli: `${ROOT}cli.ts`, mod: `${ROOT}mod.ts` },
    outdir: outDir,
    minify: true,
  });
  await setShebang(`${outDir}/cli.js`);
  await buildPhone({ outDir: `${outDir}/dist/phone` });
  await copyFolder(`${ROOT}plugin`, `${outDir}/plugin`);
  await emitDeclarations({ entry: `${ROOT}mod.ts`, root: ROOT, outDir: `${outDir}/types` });
  for (const paper of PAPERS) await Deno.copyFile(ROOT + paper, `${outDir}/${paper}`);
  await Deno.writeTextFile(`${outDir}/package.json`, `${JSON.stringify(packageJson(), null, 2)}\n`);
}

/** Throws when the package does not run, prints another version, or cannot be packed. */
async function tryOut(outDir: string): Promise<void> {
  const version = (await run([await node22(), `${outDir}/cli.js`, "--version"], outDir)).trim();
  if (version !== config.version) {
    throw new Error(`cli.js --version says "${version}", not ${config.version}`);
  }
  const [packed] = JSON.parse(await run(["npm", "pack", "--dry-run", "--json"], outDir));
  say(
    `${packed.id}: ${packed.entryCount} files, ${packed.size} bytes packed, ${packed.unpackedSize} unpacked`,
  );
}

if (import.meta.main) {
  const outDir = Deno.args[0] ?? `${ROOT}dist/npm`;
  await buildNpm(outDir);
  await tryOut(outDir);
  say(`built and run: ${outDir}`);
}
