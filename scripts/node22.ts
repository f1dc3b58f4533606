/** Finds a Node that svc supports, and installs versions from npm that a task needs and the system lacks. */
import { fileURLToPath } from "node:url";
import { nodeProblem, OLDEST_NODE } from "../src/runtime/system.ts";

/** The npm packages of Node: the oldest version that svc supports, and one for each major version. */
const PACKAGES = {
  oldest: `node@${OLDEST_NODE}.0`,
  22: "node@22.23.3",
  24: "node@24.21.0",
  26: "node@26.10.0",
} as const;
export type NodeMajor = Exclude<keyof typeof PACKAGES, "oldest">;

const decoder = new TextDecoder();

async function versionOf(program: string): Promise<string | undefined> {
  try {
    const output = await new Deno.Command(program, { args: ["--version"], stderr: "null" }).output();
    return output.success ? decoder.decode(output.stdout).trim() : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** True for `v22.16.0`; false for `v20.20.2` and for invalid text. */
export function isSupported(version: string | undefined): boolean {
  const [, numbers] = /^v(\d+\.\d+\.\d+)/.exec(version ?? "") ?? [];
  return numbers !== undefined && nodeProblem(numbers) === undefined;
}

async function install(name: string, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error", name];
  const output = await new Deno.Command("npm", { args }).output();
  if (!output.success) {
    throw new Error(`cannot install ${name} into "${folder}": ${decoder.decode(output.stderr).trim()}`);
  }
}

/**
 * Returns the path of the oldest supported Node, or of this major version, from npm, kept in `.cache`.
 *
 * @throws when npm cannot install it
 */
export async function nodeFromNpm(major: keyof typeof PACKAGES): Promise<string> {
  const folder = fileURLToPath(new URL(`../.cache/node${major}`, import.meta.url));
  const kept = `${folder}/node_modules/node/bin/node`;
  if (await versionOf(kept) !== PACKAGES[major].replace("node@", "v")) await install(PACKAGES[major], folder);
  return kept;
}

/**
 * Returns a supported Node: the system's, else the oldest version, kept in `.cache/nodeoldest`.
 *
 * @throws when npm cannot install it
 */
export async function node22(): Promise<string> {
  if (isSupported(await versionOf("node"))) return "node";
  return await nodeFromNpm("oldest");
}
