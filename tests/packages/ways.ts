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

const DENO_CHECKOUT: Way = {
  name: "deno install from the checkout",
  process: /cli\.ts listener/,
  async install(folder) {
    const install = ["install", "--global", "--allow-all", "--quiet", "--root", folder, "--name", "svc"];
    const config = ["--config", `${CHECKOUT}deno.json`];
    await must([Deno.execPath(), ...install, ...config, `${CHECKOUT}cli.ts`], { cwd: folder });
    return [`${folder}/bin/svc`];
  },
};

/** A registry that has the packed svc, as the real one will. */
async function serveRegistry(): Promise<{ url: string; close(): Promise<void> }> {
  const file = await Deno.readFile(await tarball());
  const manifest = JSON.parse(await Deno.readTextFile(`${CHECKOUT}.cache/packed/npm/package.json`));
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
  async install(folder) {
    const registry = await serveRegistry();
    try {
      const env = { DENO_DIR: `${folder}/cache`, NPM_CONFIG_REGISTRY: registry.url };
      const install = ["install", "--global", "--allow-all", "--quiet", "--root", folder, "--name", "svc"];
      const whole = { ...Deno.env.toObject(), ...env };
      await must([Deno.execPath(), ...install, "npm:@svc/svc"], { cwd: folder, env: whole });
      const launch = [
        "env",
        ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
        `${folder}/bin/svc`,
      ];
      // Deno downloads at the first start what the installation did not need.
      await must([...launch, "--version"]);
      return launch;
    } finally {
      await registry.close();
    }
  },
};

export const WAYS: readonly Way[] = [npmOn(22), npmOn(24), BINARY, DENO_CHECKOUT, DENO_NPM];
