/** Bundles TypeScript of this checkout for Node, with `#runtime` resolved to the Node implementation. */

import { fileURLToPath } from "node:url";
import { runEsbuild } from "./run_esbuild.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * CommonJS packages load built-in modules through `require`, which an ECMAScript module lacks. This one throws for
 * any other module, so packages that try optional ones work without them.
 */
const REQUIRE_BUILTIN = [
  "var require=(name)=>{",
  "const found=process.getBuiltinModule(name);",
  'if(!found)throw new Error(`Cannot find module "${name}"`);',
  "return found};",
].join("");

const OPTIONS = {
  alias: {
    "#runtime": `${ROOT}src/runtime/node.ts`,
    "#runtime-lean": `${ROOT}src/runtime/node_lean.ts`,
  },
  platform: "node",
  // Prefers modules, which esbuild can split; some packages' main file loads its parts in a way that esbuild cannot
  // analyze.
  mainFields: ["module", "main"],
  target: "node22",
} as const;

/**
 * Bundles everything into one file for a single program, which loads Node's built-in modules when they are first used.
 */
export async function bundleIntoOne(entry: string, outfile: string): Promise<void> {
  await runEsbuild({
    ...OPTIONS,
    alias: { ...OPTIONS.alias },
    mainFields: [...OPTIONS.mainFields],
    entryPoints: [entry],
    outfile,
    minify: true,
    format: "esm",
    lazyBuiltins: true,
    define: { "import.meta.url": "SVC_PROGRAM_URL" },
    banner: {
      js:
        "const SVC_PROGRAM_URL=`file://${encodeURI(process.execPath).replace(/[?#]/g,encodeURIComponent)}`;",
    },
  });
}

export interface BundleOptions {
  /** Name of the built file without `.js` → path of its TypeScript. */
  entries: Record<string, string>;
  outdir: string;
  minify?: boolean;
  /** A file whose imports go into one shared chunk, instead of one for each combination of entries. */
  shared?: string;
}

/**
 * Bundles the entries. Shared code goes into separate chunks, so that a command loads only what it uses. They are in
 * the entries' folder, where `import.meta.url` finds the package's other files.
 *
 * @throws with the bundler's messages when it fails
 */
export async function bundleForNode(
  { entries, outdir, minify = false, shared }: BundleOptions,
): Promise<void> {
  await runEsbuild({
    entryPoints: entries,
    outdir,
    minify,
    ...OPTIONS,
    alias: { ...OPTIONS.alias },
    mainFields: [...OPTIONS.mainFields],
    splitting: true,
    format: "esm",
    chunkNames: "chunk-[hash]",
    inject: shared === undefined ? [] : [shared],
    banner: { js: REQUIRE_BUILTIN },
  });
}
