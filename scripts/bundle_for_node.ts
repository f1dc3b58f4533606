/** Bundles TypeScript of this checkout for Node, with `#runtime` meaning the Node one. */

import { fileURLToPath } from "node:url";
import { runEsbuild } from "./run_esbuild.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * CommonJS packages load built-in modules through `require`, which an ECMAScript module lacks. It throws for any
 * other module: packages try optional ones and work without them.
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
  // Modules that esbuild can split; some packages' main file loads its parts in a way that esbuild cannot analyze.
  mainFields: ["module", "main"],
  target: "node22",
} as const;

/** One file for a single program, which loads Node's own modules when they are used. */
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
  /** A file whose imports every part imports too: they become one file, in place of one for each combination of parts. */
  shared?: string;
}

/**
 * Shared code goes into separate chunks, so that a command loads only what it uses. They are beside the entries, where
 * `import.meta.url` finds the package's other files.
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
