/** Bundles TypeScript of this checkout for Node, with `#runtime` meaning the Node one. */

import { build, type Metafile, stop } from "esbuild";

const root = new URL("..", import.meta.url).pathname;

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
  /** Constants to fold in, name → JSON, as esbuild's `define`. */
  define?: Record<string, string>;
  minify?: boolean;
}

/**
 * Shared code goes into chunks of its own, so that a command loads only what it uses. They lie beside the entries, where
 * `import.meta.url` finds the package's other files.
 */
export async function bundleForNode(options: BundleOptions): Promise<Metafile> {
  try {
    const result = await build({
      absWorkingDir: root,
      entryPoints: options.entries,
      outdir: options.outdir,
      define: options.define,
      minify: options.minify,
      alias: { "#runtime": `${root}src/runtime/node.ts` },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node22",
      chunkNames: "chunk-[hash]",
      banner: { js: REQUIRE_BUILTIN },
      metafile: true,
      logLevel: "error",
    });
    return result.metafile;
  } finally {
    await stop();
  }
}
