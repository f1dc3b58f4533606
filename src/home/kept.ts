/** `kept.json`: the sessions that come back after a reboot, each with the boot in which it was last there. */
import * as z from "zod/mini";
import { parseJson } from "../protocol/json.ts";
import type { Commands, Files } from "../runtime/types.ts";
import { readStateText } from "./damage.ts";
import { withLock } from "./lock.ts";
import type { HomePaths } from "./paths.ts";

export const KeptSession = z.object({
  /** Its name in tmux. */
  session: z.string(),
  /** The agent's kind. */
  agent: z.string(),
  directory: z.string(),
  /** Arguments after those with which the agent continues its conversation. */
  args: z.array(z.string()),
  /** The boot in which it was marked or started again: in the same one it is not started again. */
  boot: z.string(),
});
export type KeptSession = z.infer<typeof KeptSession>;

const KeptFile = z.object({ sessions: z.array(KeptSession) });

/** Throws Error for a damaged file, so that no marked session is forgotten. */
export async function loadKept(files: Pick<Files, "readText">, paths: HomePaths): Promise<KeptSession[]> {
  const text = await readStateText(files, paths.kept);
  if (text === undefined) return [];
  const file = KeptFile.safeParse(parseJson(text)?.value);
  if (file.success) return file.data.sessions;
  throw new Error(
    `Cannot read "${paths.kept}": it is damaged. Remove it, and mark the sessions again with svc keep.`,
  );
}

/** One process at a time, so that no change is lost. */
export async function changeKept(
  files: Files,
  paths: HomePaths,
  edit: (before: KeptSession[]) => KeptSession[],
): Promise<void> {
  await files.makeDirectory(paths.root, { mode: 0o700 });
  const busy = (): Error =>
    new Error(`Cannot change the kept sessions: another svc holds "${paths.keptLock}". Try again.`);
  const work = async (): Promise<void> => {
    const sessions = edit(await loadKept(files, paths));
    await files.replaceText(paths.kept, `${JSON.stringify({ sessions }, null, 2)}\n`, { mode: 0o600 });
  };
  await withLock(files, paths.keptLock, { busy, work });
}

const LINUX_BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** An id that changes with each boot. Throws Error where the system has none. */
export async function bootId(
  { files, commands }: { files: Pick<Files, "readText">; commands: Pick<Commands, "run"> },
): Promise<string> {
  const onLinux = (await files.readText(LINUX_BOOT_ID))?.trim();
  if (onLinux) return onLinux;
  const onMac = await commands.run(["sysctl", "-n", "kern.bootsessionuuid"]);
  const id = new TextDecoder().decode(onMac.stdout).trim();
  if (onMac.code === 0 && id !== "") return id;
  throw new Error("Cannot tell one boot of this machine from another: it has no boot id.");
}
