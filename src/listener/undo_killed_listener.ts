/** What a listener does at its start about what a killed one left in tmux. */
import { runtime } from "#runtime";
import { verbs } from "../tmux/argv.ts";
import { endOrphanedClients } from "../tmux/leftovers.ts";
import { ownerOfBuffer } from "./inject/guard.ts";
import { restoreAllWindowSizes } from "./mirror/act_on_pane.ts";
import type { Targets } from "./targets.ts";

/** Clients that tmux keeps, windows of a phone's size, and texts in paste buffers. Never rejects. */
export async function undoKilledListener(
  targets: Pick<Targets, "sessions" | "anyServer">,
  log: (line: string) => void,
): Promise<void> {
  await endOrphanedClients(runtime.commands).catch((error) => log(`tmux clients: not ended: ${error}`));
  await restoreAllWindowSizes(targets).catch((error) => log(`windows: sizes not restored: ${error}`));
  await removeTexts(targets).catch((error) => log(`tmux buffers: not removed: ${error}`));
}

/** Their messages are typed from the journal, if at all. */
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
