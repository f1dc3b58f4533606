/** A file system of its own with room for little, which a test fills. */
import { run } from "./run.ts";

/** Room for a relay's store, or a listener's files, and not much more. */
const SIZE = "24m";
const CHUNK = new Uint8Array(65_536);

export interface SmallDisk extends AsyncDisposable {
  /** Takes all that is free. */
  fill(): Promise<void>;
  /** Gives it back. */
  free(): Promise<void>;
}

/** Mounted over `folder`, with what the folder held; undefined where this account may not mount. */
export async function mountSmallDisk(folder: string): Promise<SmallDisk | undefined> {
  const kept = `${folder}.kept`;
  await run(["cp", "-a", folder, kept]);
  const mounted = await run(["mount", "-t", "tmpfs", "-o", `size=${SIZE},mode=0700`, "tmpfs", folder])
    .catch(() => ({ code: 127 }));
  if (mounted.code !== 0) return undefined;
  // A socket of a running program is not copied: it would be another one.
  await run(["sh", "-c", `cp -a "${kept}/." "${folder}/"`]);
  const filler = `${folder}/filler`;
  return {
    async fill(): Promise<void> {
      using file = await Deno.open(filler, { create: true, append: true });
      try {
        for (;;) await file.write(CHUNK);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      }
    },
    free: () => Deno.remove(filler),
    async [Symbol.asyncDispose](): Promise<void> {
      await run(["umount", "-l", folder]);
    },
  };
}
