/** Where a hook was called: in which conversation, and whether its project is muted. */
import { isMuted, loadMuted } from "../home/muted.ts";
import type { Conversation, RemoteHome } from "../home/remote_mode.ts";
import type { HookCall, HookHost } from "./host.ts";

export function conversationOf({ kind, hooks, input }: HookCall): Conversation | undefined {
  const id = hooks.sessionOf(input);
  return id === undefined ? undefined : { agent: kind, id };
}

/** `directory` as the agent names it. */
export async function isMutedHere({ files, paths }: HookHost, directory: string): Promise<boolean> {
  const muted = await loadMuted(files, paths);
  return muted.length > 0 && isMuted(muted, await files.realPath(directory) ?? directory);
}

export function remoteHome({ files, paths }: HookHost): RemoteHome {
  return { files, remote: paths.remote };
}
