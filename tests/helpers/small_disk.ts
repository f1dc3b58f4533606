/** A separate small file system, which a test fills. */
import { run } from "./run.ts";

/** Enough for a relay's store or a listener's files, and little more. */
const SIZE = "24m";
const CHUNK = new Uint8Array(65_536);

export interface SmallDisk extends AsyncDisposable {
  /** Fills the free space. */
  fill(): Promise<void>;
  /** Frees the space again. */
  free(): Promise<void>;
}

/** Mounts a small disk over `folder` and copies the folder's files to it; undefined if this account may not mount. */
export async function mountSmallDisk(folder: string): Promise<SmallDisk | undefined> {
  const kept = `${folder}.kept`;
  await run(["cp", "-a", folder, kept]);
  const mounted = await run(["mount", "-t", "tmpfs", "-o", `size=${SIZE},mode=0700`, "tmpfs", folder])
    .catch(() => ({ code: 127 }));
  if (mounted.code !== 0) return undefined;
  // The socket of a running program is not copied, since the copy would be a different socket.
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
