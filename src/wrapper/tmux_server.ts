/** Which tmux server a wrapper run speaks to, and that no other account can stand in its place. */
import type { Runtime } from "../runtime/types.ts";
import { tmuxEnvironment } from "../tmux/server.ts";
import { folderTrust, type SocketTrust, socketTrust, type TrustHost } from "../tmux/trust.ts";
import type { TmuxAccess } from "./tmux_calls.ts";

export interface ServerHost extends TrustHost {
  commands: Pick<Runtime["commands"], "run" | "runInherited">;
}

/** Throws one sentence when another account could answer in tmux's place: it would get the agent's environment. */
export async function trustedServer(
  host: ServerHost,
  env: Readonly<Record<string, string>>,
): Promise<TmuxAccess> {
  return {
    commands: host.commands,
    socket: await trustedSocket(host, env),
    env: tmuxEnvironment(env, { attaches: true }),
    serverEnv: { ...env },
  };
}

/** Undefined: tmux makes its default folder itself, and takes none that is not this account's own. */
async function trustedSocket(
  host: ServerHost,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const named = env.SVC_TMUX_SOCKET || env.TMUX?.split(",")[0];
  const root = (env.TMUX_TMPDIR || "/tmp").replace(/\/+$/, "");
  const path = named || `${root}/tmux-${host.uid}/default`;
  const trust = await socketTrust(path, host);
  if (trust.kind === "trusted") return trust.path;
  if (trust.kind === "refused") throw untrusted(path, trust.why);
  const folder = await closestFolder(parentOf(path), host);
  if (folder.kind === "refused") throw untrusted(path, folder.why);
  return named || undefined;
}

/** The folder, or the first one above it that is there. */
async function closestFolder(folder: string, host: TrustHost): Promise<SocketTrust> {
  const trust = await folderTrust(folder, host);
  if (trust.kind !== "absent" || folder === parentOf(folder)) return trust;
  return await closestFolder(parentOf(folder), host);
}

function untrusted(path: string, why: string): Error {
  return new Error(
    `Cannot use the tmux socket "${path}": ${why}, so that another account could answer there in tmux's place. ` +
      "Set SVC_TMUX_SOCKET to a path in a folder of your own.",
  );
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || (path.startsWith("/") ? "/" : ".");
}
