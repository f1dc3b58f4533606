/** Bundles TypeScript of this checkout for Node, with `#runtime` meaning the Node one. */

import { build, stop } from "esbuild";

const ROOT = new URL("..", import.meta.url).pathname;

/**
 * CommonJS packages ask for built-in modules through `require`, which an ECMAScript module has not. It throws for any
 * other module: packages try optional ones and do without.
 */
const REQUIRE_BUILTIN = [
  "var require=(name)=>{",
  "const found=process.getBuiltinModule(name);",
  'if(!found)throw new Error(`Cannot find module "${name}"`);',
  "return found};",
].join("");

export interface BundleOptions {
  /** Name of the built file without `.js` → path of its TypeScript. */
  entries: Record<string, string>;
  outdir: string;
  minify?: boolean;
}

/**
 * Shared code goes into chunks of its own, so that a command loads only what it uses. They lie beside the entries, where
 * `import.meta.url` finds the package's other files.
 */
async function bundle({ entries, outdir, minify = false }: BundleOptions): Promise<void> {
  try {
    await build({
      absWorkingDir: ROOT,
      entryPoints: entries,
      outdir,
      minify,
      alias: { "#runtime": `${ROOT}src/runtime/node.ts` },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node22",
      chunkNames: "chunk-[hash]",
      banner: { js: REQUIRE_BUILTIN },
      logLevel: "error",
    });
  } finally {
    await stop();
  }
}

/**
 * Bundles in a process of its own: esbuild's service ends some time after `stop`, and a test must leave nothing behind.
 *
 * @throws with esbuild's words when it finds a fault
 */
export async function bundleForNode(options: BundleOptions): Promise<void> {
  const args = ["run", "-A", "--quiet", "--no-check", import.meta.url, JSON.stringify(options)];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
  if (!success) throw new Error(`cannot bundle for Node:\n${new TextDecoder().decode(stderr)}`);
}

if (import.meta.main) await bundle(JSON.parse(Deno.args[0] ?? ""));
