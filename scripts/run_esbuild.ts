/** Runs esbuild in a separate process: its service ends some time after `stop`, and a test must leave nothing running. */

import { fileURLToPath, pathToFileURL } from "node:url";
import { isBuiltin } from "node:module";
import { build, type BuildOptions, type Metafile, type Plugin, stop } from "esbuild";

export type { Metafile };

export interface BundleOptions extends BuildOptions {
  /** Groups of files; a dynamic import of one loads a single chunk with its whole group. */
  together?: readonly Together[];
  /** Loads Node's built-in modules on first use; a plain import at the top of a bundle would load them at once. */
  lazyBuiltins?: boolean;
}

export interface Together {
  /** The chunk's name. */
  name: string;
  files: readonly string[];
  /**
   * A file that is loaded before the chunk: code shared with it goes into one file, not one for each combination of
   * chunks.
   */
  after: string;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Builds with these options; paths are relative to the checkout. Returns esbuild's metafile if `metafile` is set.
 *
 * @throws with esbuild's messages when it fails
 */
export async function runEsbuild(options: BundleOptions): Promise<Metafile | undefined> {
  const args = ["run", "-A", "--quiet", "--no-check", import.meta.url, JSON.stringify(options)];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
  if (!success) throw new Error(`cannot bundle:\n${new TextDecoder().decode(stderr)}`);
  return options.metafile ? JSON.parse(new TextDecoder().decode(stdout)) : undefined;
}

/**
 * Joins each group into one chunk: esbuild would make one for each combination of dynamic imports, at a request each.
 */
function joinImports({ name, files, after }: Together): Plugin {
  const paths = new Set(files.map((file) => ROOT + file));
  const lines = [...paths].map((path) => `export * from ${JSON.stringify(path)};`);
  const namespace = `together ${name}`;
  return {
    name: namespace,
    setup(builder) {
      builder.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
        const file = fileURLToPath(new URL(path, pathToFileURL(`${resolveDir}/`)));
        return kind === "dynamic-import" && paths.has(file) ? { path: name, namespace } : null;
      });
      builder.onLoad({ filter: /.*/, namespace }, () => ({
        contents: [`import ${JSON.stringify(ROOT + after)};`, ...lines].join("\n"),
        resolveDir: ROOT,
      }));
    },
  };
}

function loadBuiltinsLate(): Plugin {
  const namespace = "builtin";
  return {
    name: namespace,
    setup(builder) {
      builder.onResolve({ filter: /^[a-z]/ }, ({ path }) => {
        return isBuiltin(path) ? { path: path.replace(/^(?:node:)?/, "node:"), namespace } : null;
      });
      builder.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      }));
    },
  };
}

if (import.meta.main) {
  const { together = [], lazyBuiltins, ...options }: BundleOptions = JSON.parse(Deno.args[0] ?? "{}");
  try {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      bundle: true,
      logLevel: "error",
      plugins: [...together.map(joinImports), ...(lazyBuiltins ? [loadBuiltinsLate()] : [])],
      ...options,
    });
    if (metafile) await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(metafile)));
  } finally {
    await stop();
  }
}
