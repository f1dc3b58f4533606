/** Builds the npm package and runs what it built under Node: `deno run -A scripts/build_npm.ts [folder]`. */

import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { buildPhone } from "./build_phone.ts";
import { bundleForNode } from "./bundle_for_node.ts";
import { emitDeclarations } from "./declarations.ts";
import { OLDEST_NODE } from "../src/runtime/system.ts";
import { node22 } from "./node22.ts";
import { fitPaper } from "./npm_paper.ts";
import { nameLine, publishWarnings, repositoryUrl } from "./npm_registry.ts";
import { say } from "./say.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SHEBANG = "#!/usr/bin/env node\n";
const PAPERS = ["README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"];
/** A global installation links it where `man` looks. */
const MAN_PAGE = "svc.1";

/** Files to pack; npm adds package.json, README and LICENSE by itself. */
const FILES = ["*.js", "dist/phone/", "plugin/", "types/", "CHANGELOG.md", "SECURITY.md", MAN_PAGE];
const KEYWORDS = [
  ...["claude", "codex", "gemini", "opencode", "copilot", "cursor"],
  ...["coding-agent", "remote-control", "phone", "tmux", "mcp", "self-hosted", "end-to-end-encryption"],
];

/**
 * The declarations name zod's types, so a user's compiler must find them; the code of every dependency is bundled.
 * There is no install script.
 */
async function packageJson(): Promise<Record<string, unknown>> {
  const zod = config.imports.zod.replace("npm:zod@", "");
  const repository = await repositoryUrl(ROOT);
  return {
    name: config.name,
    version: config.version,
    description: "Type into a terminal coding agent from your phone",
    keywords: KEYWORDS,
    license: config.license,
    ...(repository === undefined ? {} : {
      repository: { type: "git", url: `git+${repository}.git` },
      homepage: `${repository}#readme`,
      bugs: { url: `${repository}/issues` },
    }),
    type: "module",
    bin: { svc: "cli.js" },
    man: [`./${MAN_PAGE}`],
    exports: { ".": { types: "./types/mod.d.ts", default: "./mod.js" } },
    files: FILES,
    engines: { node: `>=${OLDEST_NODE}` },
    os: ["linux", "darwin"],
    dependencies: { zod },
    // The registry shows which commit and which workflow built the package, and refuses one built elsewhere.
    publishConfig: { access: "public", provenance: true },
    // Only continuous integration publishes; this field tells `svc upgrade` that the package was built elsewhere.
    ...(Deno.env.has("CI") ? {} : { svcBuild: "checkout" }),
  };
}

/** Sets the package's shebang, since the one in the source names another runtime. */
async function setShebang(path: string): Promise<void> {
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, SHEBANG + text.replace(/^#!.*\n/, ""));
  await Deno.chmod(path, 0o755);
}

/** Runs a program to its end and returns its output; throws with the output if it fails. */
async function run(argv: readonly string[], cwd: string): Promise<string> {
  const [program = "", ...args] = argv;
  const output = await new Deno.Command(program, { args, cwd }).output();
  const [stdout, stderr] = [output.stdout, output.stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (output.success) return stdout ?? "";
  throw new Error(`${argv.join(" ")}: exit code ${output.code}\n${stderr}`);
}

/** Copies with file modes, since some files are executable scripts. */
async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Replaces the content of `outDir` with a complete package. */
export async function buildNpm(outDir: string): Promise<void> {
  await Deno.mkdir(outDir, { recursive: true });
  for await (const { name } of Deno.readDir(outDir)) {
    await Deno.remove(`${outDir}/${name}`, { recursive: true });
  }
  await bundleForNode({
    entries: { cli: `${ROOT}cli.ts`, mod: `${ROOT}mod.ts` },
    outdir: outDir,
    minify: true,
    shared: `${ROOT}scripts/hook_modules.ts`,
  });
  await setShebang(`${outDir}/cli.js`);
  await buildPhone({ outDir: `${outDir}/dist/phone` });
  await copyFolder(`${ROOT}plugin`, `${outDir}/plugin`);
  await emitDeclarations({ entry: `${ROOT}mod.ts`, root: ROOT, outDir: `${outDir}/types` });
  const repository = await repositoryUrl(ROOT);
  for (const paper of PAPERS) {
    const text = await Deno.readTextFile(ROOT + paper);
    await Deno.writeTextFile(`${outDir}/${paper}`, fitPaper(text, { repository, packed: PAPERS }));
  }
  await Deno.copyFile(`${ROOT}docs/${MAN_PAGE}`, `${outDir}/${MAN_PAGE}`);
  await Deno.writeTextFile(`${outDir}/package.json`, `${JSON.stringify(await packageJson(), null, 2)}\n`);
}

/** Throws when the package does not run, prints another version, or cannot be published. */
async function tryOut(outDir: string): Promise<void> {
  const version = (await run([await node22(), `${outDir}/cli.js`, "--version"], outDir)).trim();
  if (version !== config.version) {
    throw new Error(`cli.js --version says "${version}", not ${config.version}`);
  }
  const warnings = await publishWarnings(outDir);
  if (warnings.length > 0) throw new Error(`npm publish --dry-run warns:\n${warnings.join("\n")}`);
  const [packed] = JSON.parse(await run(["npm", "pack", "--dry-run", "--json"], outDir));
  say(
    `${packed.id}: ${packed.entryCount} files, ${packed.size} bytes packed, ${packed.unpackedSize} unpacked`,
  );
}

if (import.meta.main) {
  const folder = Deno.args[0] ?? `${ROOT}dist/npm`;
  await Deno.mkdir(folder, { recursive: true });
  const outDir = await Deno.realPath(folder);
  await buildNpm(outDir);
  await tryOut(outDir);
  say(await nameLine(config.name, config.version));
  const repository = await repositoryUrl(ROOT);
  say(
    repository === undefined
      ? "repository: unknown here, so the package names none: publish from continuous integration"
      : `repository: ${repository}`,
  );
  say(`built and run: ${outDir}`);
}
