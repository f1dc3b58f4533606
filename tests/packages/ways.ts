/** The ways of installing svc: each begins in an empty folder. */
import { compileWithNode } from "../../scripts/compile.ts";
import { nodeFromNpm, type NodeMajor } from "../../scripts/node22.ts";
import type { Launch } from "../helpers/program.ts";
import { run } from "../helpers/run.ts";
import { CHECKOUT } from "../helpers/sources.ts";

export interface Way {
  name: string;
  /** How `ps` shows its listener. */
  process: RegExp;
  /** Installs svc into an empty folder; resolves with what a person's shell starts. */
  install(folder: string): Promise<Launch>;
}

/** Throws with the program's output when it fails. */
export async function must(
  argv: readonly string[],
  options: Parameters<typeof run>[1] = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(argv, options);
  if (code === 0) return stdout;
  throw new Error(`${argv.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
}

let packed: Promise<string> | undefined;

/** Builds and packs the npm package once in a run; resolves with the tarball's path. */
export function tarball(): Promise<string> {
  packed ??= (async () => {
    const folder = `${CHECKOUT}.cache/packed`;
    await Deno.mkdir(folder, { recursive: true });
    await must([Deno.execPath(), "run", "-A", "--quiet", `${CHECKOUT}scripts/build_npm.ts`, `${folder}/npm`]);
    const name = await must(["npm", "pack", "--silent", "--pack-destination", folder, `${folder}/npm`]);
    return `${folder}/${name.trim()}`;
  })();
  return packed;
}

/** With that Node first on the PATH, so that npm runs on it too. */
export async function npmInstall(
  folder: string,
  options: { major: NodeMajor; spec: string },
): Promise<string> {
  const node = await nodeFromNpm(options.major);
  const env = { ...Deno.env.toObject(), PATH: `${node.replace(/\/node$/, "")}:${Deno.env.get("PATH")}` };
  const install = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", options.spec];
  await must(install, { cwd: folder, env });
  return node;
}

function npmOn(major: NodeMajor): Way {
  return {
    name: `npm on Node ${major}`,
    process: /cli\.js listener/,
    async install(folder) {
      const node = await npmInstall(folder, { major, spec: await tarball() });
      return [node, `${folder}/node_modules/.bin/svc`];
    },
  };
}

const BINARY: Way = {
  name: "a single program",
  process: /^\S*\/svc listener/,
  install: async (folder) => [await compileWithNode(folder)],
};

export const WAYS: readonly Way[] = [npmOn(22), npmOn(24), BINARY];
