/**
 * `deno task compile`: builds svc as a single program: for five targets by `deno compile`, and for this machine as a
 * single executable application of Node, which needs npm alone. `--only deno` or `--only node` builds one kind.
 */
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { bundleIntoOne } from "./bundle_for_node.ts";
import { buildPhone } from "./build_phone.ts";
import { nodeFromNpm } from "./node22.ts";
import { say } from "./say.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Folders that go into the program. */
const PARTS = ["dist/phone", "plugin"];
const TARGETS = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
];
/** Node writes a single program by itself since 25.5. */
const NODE_MAJOR = 26;
/** Must match EMBEDDED_NAMES of src/runtime/system.ts. */
const NAMES = "names.json";

const decoder = new TextDecoder();

async function run(argv: readonly string[], cwd = ROOT): Promise<{ isOk: boolean; text: string }> {
  const [program = "", ...args] = argv;
  const env = { NO_COLOR: "1" };
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd, env }).output();
  return { isOk: success, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

async function must(argv: readonly string[], cwd?: string): Promise<string> {
  const { isOk, text } = await run(argv, cwd);
  if (isOk) return text;
  throw new Error(`${argv.join(" ")}:\n${text}`);
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(ROOT + folder));
  const found = entries.map(({ name, isDirectory }) =>
    isDirectory ? filesUnder(`${folder}/${name}`) : Promise.resolve([`${folder}/${name}`])
  );
  return (await Promise.all(found)).flat().sort();
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** Checks everything that can fail before a base binary is needed: types, unresolved modules, missing parts. */
async function checkBefore(): Promise<string> {
  await must([Deno.execPath(), "check", "--quiet", "cli.ts"]);
  const graph = JSON.parse(await must([Deno.execPath(), "info", "--json", "cli.ts"]));
  const broken = graph.modules.filter((module: { error?: string }) => module.error !== undefined);
  if (broken.length > 0) throw new Error(`cannot compile: ${broken[0].specifier}: ${broken[0].error}`);
  const parts = (await Promise.all(PARTS.map(filesUnder))).flat();
  for (const needed of ["dist/phone/index.html", "plugin/.claude-plugin/marketplace.json"]) {
    if (!parts.includes(needed)) throw new Error(`cannot compile: "${needed}" is missing`);
  }
  return `${graph.modules.length} modules resolve, their types hold, and ${parts.length} files go in`;
}

/** Compiles for one target; `line` describes the outcome. */
async function compileWithDeno(target: string, outDir: string): Promise<{ isBuilt: boolean; line: string }> {
  const output = `${outDir}/svc-${target}`;
  const include = PARTS.flatMap((part) => ["--include", part]);
  const args = ["compile", "-A", "--quiet", "--target", target, ...include, "--output", output, "cli.ts"];
  const { isOk, text } = await run([Deno.execPath(), ...args]);
  if (isOk) {
    const file = target.includes("windows") ? `${output}.exe` : output;
    return { isBuilt: true, line: `${target}: ${file}, ${megabytes((await Deno.stat(file)).size)}` };
  }
  const why = /client error.*|denort.*404.*/.exec(text)?.[0];
  if (why === undefined) throw new Error(`cannot compile for ${target}:\n${text}`);
  return { isBuilt: false, line: `${target}: not built: Deno's base binary cannot be had here: ${why}` };
}

/** Builds from npm's Node and resolves with the program's path. The program runs wherever that Node runs. */
export async function compileWithNode(outDir: string): Promise<string> {
  const node = await nodeFromNpm(NODE_MAJOR);
  await buildPhone({ outDir: `${ROOT}dist/phone` });
  const work = await Deno.makeTempDir({ prefix: "svc-compile-" });
  try {
    await bundleIntoOne(`${ROOT}cli.ts`, `${work}/svc.mjs`);
    const names = (await Promise.all(PARTS.map(filesUnder))).flat();
    await Deno.writeTextFile(`${work}/${NAMES}`, JSON.stringify(names));
    const assets = {
      [NAMES]: `${work}/${NAMES}`,
      ...Object.fromEntries(names.map((name) => [name, ROOT + name])),
    };
    const output = `${outDir}/svc`;
    const settings = {
      main: `${work}/svc.mjs`,
      mainFormat: "module",
      output,
      assets,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
    };
    await Deno.mkdir(outDir, { recursive: true });
    await Deno.writeTextFile(`${work}/sea.json`, JSON.stringify(settings));
    await must([node, "--build-sea", `${work}/sea.json`], work);
    return output;
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function main(): Promise<number> {
  const [option, kind, ...others] = Deno.args;
  if (
    others.length > 0 ||
    option !== undefined && (option !== "--only" || !["deno", "node"].includes(kind ?? ""))
  ) {
    say(`Cannot use "${Deno.args.join(" ")}": --only deno or --only node is known, or nothing for both.`);
    return 2;
  }
  const outDir = `${ROOT}dist/bin`;
  await Deno.mkdir(outDir, { recursive: true });
  await buildPhone({ outDir: `${ROOT}dist/phone` });
  if (kind !== "node") {
    say(`before the base binary: ${await checkBefore()}`);
    for (const target of TARGETS) say((await compileWithDeno(target, outDir)).line);
  }
  if (kind !== "deno") {
    const program = await compileWithNode(outDir);
    const version = (await must([program, "--version"])).trim();
    if (version !== config.version) throw new Error(`"${program}" --version says "${version}"`);
    const { size } = await Deno.stat(program);
    say(`Node, ${Deno.build.os} ${Deno.build.arch}: ${program}, ${megabytes(size)}, prints ${version}`);
  }
  return 0;
}

if (import.meta.main) Deno.exit(await main());
