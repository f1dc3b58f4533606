/** Runs esbuild in a separate process: its service ends some time after `stop`, and a test must leave nothing behind. */

import { build, type BuildOptions, stop } from "esbuild";

export type { BuildOptions };

const ROOT = new URL("..", import.meta.url).pathname;

/**
 * Builds with these options; paths are relative to the checkout.
 *
 * @throws with esbuild's messages when it fails
 */
export async function runEsbuild(options: BuildOptions): Promise<void> {
  const args = ["run", "-A", "--quiet", "--no-check", import.meta.url, JSON.stringify(options)];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
  if (!success) throw new Error(`cannot bundle:\n${new TextDecoder().decode(stderr)}`);
}

if (import.meta.main) {
  try {
    await build({
      absWorkingDir: ROOT,
      bundle: true,
      logLevel: "error",
      ...JSON.parse(Deno.args[0] ?? "{}"),
    });
  } finally {
    await stop();
  }
}
