/** Finds a Node that svc supports, and installs one from npm when the system's is too old. */

/** The oldest Node the package runs on. */
export const OLDEST_NODE = 22;

/** The npm package of Node that is installed when the system's is too old. */
const NODE_PACKAGE = "node@22.23.3";

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

/** `v22.23.3` is supported, `v20.20.2` and junk are not. */
export function isSupported(version: string | undefined): boolean {
  return Number(/^v(\d+)\./.exec(version ?? "")?.[1]) >= OLDEST_NODE;
}

async function install(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error", NODE_PACKAGE];
  const output = await new Deno.Command("npm", { args }).output();
  if (!output.success) {
    throw new Error(
      `cannot install ${NODE_PACKAGE} into "${folder}": ${decoder.decode(output.stderr).trim()}`,
    );
  }
}

/**
 * Path of a Node of the oldest supported version or later: the system's, else one kept in `.cache/node22`.
 *
 * @throws when npm cannot install it
 */
export async function node22(): Promise<string> {
  if (isSupported(await versionOf("node"))) return "node";
  const folder = new URL("../.cache/node22", import.meta.url).pathname;
  const kept = `${folder}/node_modules/.bin/node`;
  if (!isSupported(await versionOf(kept))) await install(folder);
  return kept;
}
