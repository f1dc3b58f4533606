/** Undoes, when a listener starts, what a killed one left in tmux. */
import { runtime } from "#runtime";
import { verbs } from "../tmux/argv.ts";
import { endOrphanedClients } from "../tmux/leftovers.ts";
import { ownerOfBuffer } from "./inject/guard.ts";
import { restoreAllWindowSizes } from "./mirror/act_on_pane.ts";
import type { Targets } from "./targets.ts";

/**
 * Ends orphaned clients, restores the sizes of windows that were fitted to a phone, and removes texts from paste
 * buffers. Never rejects.
 */
export async function undoKilledListener(
  targets: Pick<Targets, "sessions" | "anyServer">,
  log: (line: string) => void,
): Promise<void> {
  await endOrphanedClients(runtime.commands).catch((error) => log(`tmux clients: not ended: ${error}`));
  await restoreAllWindowSizes(targets).catch((error) => log(`windows: sizes not restored: ${error}`));
  await removeTexts(targets).catch((error) => log(`tmux buffers: not removed: ${error}`));
}

/** Removes the paste buffers of listeners that are gone. Their messages are typed from the journal, if at all. */
async function removeTexts(targets: Pick<Targets, "sessions" | "anyServer">): Promise<void> {
  const sockets = new Set((await targets.sessions()).map(({ socket }) => socket));
  for (const socket of sockets) {
    const server = targets.anyServer(socket);
    for (const name of (await server.run(verbs.listBuffers("#{buffer_name}"))).split("\n")) {
      const owner = ownerOfBuffer(name);
      if (owner === undefined || runtime.commands.kill(owner, 0)) continue;
      await server.run(verbs.deleteBuffer(name));
    }
  }
}
