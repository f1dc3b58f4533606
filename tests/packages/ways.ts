/** The ways of installing svc; each begins in an empty folder. */
import { nodeFromNpm, type NodeMajor } from "../../scripts/node22.ts";
import type { Launch } from "../helpers/program.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { run } from "../helpers/run.ts";
import { CHECKOUT } from "../helpers/sources.ts";

export interface Way {
  name: string;
  /** What `ps` shows for its listener. */
  process: RegExp;
  /**
   * Installs the svc of this source into a folder, which is empty or has an earlier version; resolves with the command
   * that a person's shell starts.
   */
  install(folder: string, source?: string): Promise<Launch>;
}

/** Runs a program; throws with its output when it fails. */
export async function must(
  argv: readonly string[],
  options: Parameters<typeof run>[1] = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(argv, options);
  if (code === 0) return stdout;
  throw new Error(`${argv.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
}

const packed = new Map<string, Promise<string>>();

/** Builds and packs the npm package of a source, once per run; resolves with the tarball's path. */
export function tarball(source = CHECKOUT): Promise<string> {
  const known = packed.get(source) ?? pack(source);
  packed.set(source, known);
  return known;
}

async function pack(source: string): Promise<string> {
  const folder = source === CHECKOUT ? `${CHECKOUT}.cache/packed` : `${source}packed`;
  await Deno.mkdir(folder, { recursive: true });
  await must([Deno.execPath(), "run", "-A", "--quiet", `${source}scripts/build_npm.ts`, `${folder}/npm`]);
  const name = await must(["npm", "pack", "--silent", "--pack-destination", folder, `${folder}/npm`]);
  return `${folder}/${name.trim()}`;
}

/** The files of a source without its history; `.cache` has the versions of Node that it is built with. */
const COPIED = ["src", "scripts", "plugin", "docs", "cli.ts", "mod.ts", "deno.json", "deno.lock", "dist"];
const PAPERS = ["README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"];
const LINKED = ["node_modules", ".cache"];

/** Copies this checkout with another version number, over an earlier copy if there is one, as `git pull` does. */
export async function copySource(folder: string, version: string): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  await must(["cp", "-r", ...[...COPIED, ...PAPERS].map((name) => CHECKOUT + name), folder]);
  for (const name of LINKED) await must(["ln", "-sfn", CHECKOUT + name, `${folder}/${name}`]);
  for (const file of ["deno.json", "src/protocol/version.ts"]) {
    const text = await Deno.readTextFile(`${folder}/${file}`);
    await Deno.writeTextFile(`${folder}/${file}`, text.replace(`"${VERSION}"`, `"${version}"`));
  }
  return `${folder}/`;
}

/** Installs with that Node first on the PATH, so that npm runs on it too. */
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
    async install(folder, source) {
      const node = await npmInstall(folder, { major, spec: await tarball(source) });
      return [node, `${folder}/node_modules/.bin/svc`];
    },
  };
}

const BINARY: Way = {
  name: "a single program",
  process: /^\S*\/svc listener/,
  async install(folder, source = CHECKOUT) {
    await must([Deno.execPath(), "run", "-A", "--quiet", `${source}scripts/compile.ts`, "--only", "node"]);
    // Replaces the file as a download does: the old program may be running.
    await Deno.copyFile(`${source}dist/bin/svc`, `${folder}/svc.new`);
    await Deno.rename(`${folder}/svc.new`, `${folder}/svc`);
    return [`${folder}/svc`];
  },
};

const DENO_CHECKOUT: Way = {
  name: "deno task install in the checkout",
  process: /cli\.ts listener/,
  async install(folder, source = CHECKOUT) {
    const version = JSON.parse(await Deno.readTextFile(`${source}deno.json`)).version;
    const checkout = await copySource(`${folder}/checkout`, version);
    const env = { ...Deno.env.toObject(), DENO_INSTALL_ROOT: folder };
    await must([Deno.execPath(), "task", "install"], { cwd: checkout, env });
    return [`${folder}/bin/svc`];
  },
};

const denoInstall = (folder: string): string[] => [
  ...[Deno.execPath(), "install", "--global", "--allow-all", "--quiet", "--force"],
  ...["--root", folder, "--name", "svc"],
];

/** Serves a registry that has the packed svc, as the real one will. */
async function serveRegistry(source?: string): Promise<{ url: string; close(): Promise<void> }> {
  const path = await tarball(source);
  const file = await Deno.readFile(path);
  const manifest = JSON.parse(await Deno.readTextFile(path.replace(/[^/]*$/, "npm/package.json")));
  const { name, version } = manifest;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-512", file));
  const integrity = `sha512-${btoa(String.fromCharCode(...digest))}`;
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const server = Deno.serve(options, async (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname === "/svc.tgz") return new Response(file);
    if (decodeURIComponent(pathname) !== `/${name}`) {
      return await fetch(`https://registry.npmjs.org${pathname}`, { headers: request.headers });
    }
    const dist = { tarball: `${origin}/svc.tgz`, integrity };
    const versions = { [version]: { ...manifest, dist } };
    return Response.json({ name, "dist-tags": { latest: version }, versions });
  });
  return { url: `http://127.0.0.1:${server.addr.port}/`, close: () => server.shutdown() };
}

const DENO_NPM: Way = {
  name: "deno install from npm",
  process: /cli\.js listener/,
  async install(folder, source) {
    const registry = await serveRegistry(source);
    try {
      const env = { DENO_DIR: `${folder}/cache`, NPM_CONFIG_REGISTRY: registry.url };
      const whole = { ...Deno.env.toObject(), ...env };
      await must([...denoInstall(folder), "npm:@svc/svc"], { cwd: folder, env: whole });
      const launch = [
        "env",
        ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
        `${folder}/bin/svc`,
      ];
      // At the first start Deno downloads what the installation did not need.
      await must([...launch, "--version"]);
      return launch;
    } finally {
      await registry.close();
    }
  },
};

export const WAYS: readonly Way[] = [npmOn(22), npmOn(24), BINARY, DENO_CHECKOUT, DENO_NPM];
