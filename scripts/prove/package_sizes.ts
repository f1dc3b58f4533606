/** Sizes of the npm package, as a tarball and installed, compared with packages that do the same job. */
import { buildNpm } from "../build_npm.ts";
import { say } from "../say.ts";

/** The npm packages that control a terminal's coding agent from a phone. */
const PEERS = ["happy", "happy-coder", "claude-code-remote"];

async function run(argv: readonly string[], cwd: string): Promise<string> {
  const [program = "", ...args] = argv;
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  if (success) return new TextDecoder().decode(stdout).trim();
  throw new Error(`${argv.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

interface Sizes {
  tarball: number;
  installed: number;
  packages: number;
}

/** Installs the package with all its dependencies; runs none of their code. */
async function measure(spec: string, folder: string): Promise<Sizes> {
  await Deno.mkdir(folder);
  const packed = JSON.parse(await run(["npm", "pack", "--json", "--silent", spec], folder));
  const [{ filename }] = packed;
  const { size: tarball } = await Deno.stat(`${folder}/${filename}`);
  const install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await run([...install, `./${filename}`], folder);
  const [bytes = ""] = (await run(["du", "-sb", "node_modules"], folder)).split(/\s/);
  const lock = JSON.parse(await Deno.readTextFile(`${folder}/package-lock.json`));
  return { tarball, installed: Number(bytes), packages: Object.keys(lock.packages).length - 1 };
}

const root = await Deno.makeTempDir({ prefix: "svc-sizes-" });
try {
  await buildNpm(`${root}/built`);
  for (const [name, spec] of [["svc", `${root}/built`], ...PEERS.map((peer) => [peer, peer])]) {
    try {
      const { tarball, installed, packages } = await measure(spec ?? "", `${root}/${name}`);
      say(`size ${name}: ${megabytes(tarball)} packed, ${megabytes(installed)} in ${packages} package(s)`);
    } catch (error) {
      if (name === "svc") throw error;
      say(`size ${name}: not measured: ${String(error).split("\n")[0]}`);
    }
  }
} finally {
  await Deno.remove(root, { recursive: true });
}
