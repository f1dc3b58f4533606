/** Checks that only this account can be behind a tmux socket. The check resolves the path, and that resolved path is then used. */
import { errorText } from "../async/error_text.ts";
import type { FileInfo, Files } from "../runtime/types.ts";

export interface TrustHost {
  uid: number;
  files: Pick<Files, "info" | "realPath">;
}

/** `path` is resolved, and no other account can replace a folder on it. `absent`: nothing is there. */
export type SocketTrust =
  | { kind: "trusted"; path: string }
  | { kind: "absent" }
  | { kind: "refused"; why: string };

const ROOT = 0;
const OTHERS_WRITE = 0o022;
const ANYONE_WRITES = 0o002;
/** In a sticky folder such as `/tmp` only its owner can remove an entry. */
const STICKY = 0o1000;

export async function socketTrust(path: string, host: TrustHost): Promise<SocketTrust> {
  try {
    return await judge(path, host);
  } catch (error) {
    return { kind: "refused", why: unreadable(path, error) };
  }
}

async function judge(path: string, host: TrustHost): Promise<SocketTrust> {
  const resolved = await host.files.realPath(path);
  if (resolved === undefined) return { kind: "absent" };
  const fault = folderFault(parentOf(resolved), host);
  const info = await host.files.info(resolved);
  if (!info?.isSocket) return { kind: "absent" };
  const why = socketFault(resolved, info, host.uid) ?? await fault;
  return why === undefined ? { kind: "trusted", path: resolved } : { kind: "refused", why };
}

/** Like `socketTrust`, for a folder of sockets. */
export async function folderTrust(folder: string, host: TrustHost): Promise<SocketTrust> {
  try {
    const path = await host.files.realPath(folder);
    if (path === undefined) return { kind: "absent" };
    const why = await folderFault(path, host);
    return why === undefined ? { kind: "trusted", path } : { kind: "refused", why };
  } catch (error) {
    return { kind: "refused", why: unreadable(folder, error) };
  }
}

/** Why another account could put a socket into this folder or one above it. Undefined if none can. */
async function folderFault(folder: string, host: TrustHost): Promise<string | undefined> {
  const faults = await Promise.all(
    upwards(folder).map(async (path) => {
      const info = await host.files.info(path).catch((error) => unreadable(path, error));
      if (typeof info !== "object") return info ?? `"${path}" is not there`;
      if (!isOwn(info, host.uid)) return `"${path}" belongs to user ${info.uid}`;
      if ((info.mode & OTHERS_WRITE) === 0 || (info.mode & STICKY) !== 0) return undefined;
      return `others can write to "${path}" (mode ${modeText(info)})`;
    }),
  );
  return faults.find((why) => why !== undefined);
}

/** A folder and all above it. */
function upwards(folder: string): string[] {
  return folder === "/" ? ["/"] : [folder, ...upwards(parentOf(folder))];
}

function socketFault(path: string, info: FileInfo, uid: number): string | undefined {
  if (info.uid !== uid) return `"${path}" belongs to user ${info.uid}`;
  return (info.mode & ANYONE_WRITES) === 0
    ? undefined
    : `others can write to "${path}" (mode ${modeText(info)})`;
}

/** The folder may be closed to this account, or a symlink loop. */
function unreadable(path: string, error: unknown): string {
  return `"${path}" cannot be read (${errorText(error)})`;
}

function isOwn({ uid }: FileInfo, own: number): boolean {
  return uid === own || uid === ROOT;
}

function modeText({ mode }: FileInfo): string {
  return mode.toString(8).padStart(4, "0");
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** The log names at most this many rejected sockets and folders. */
const DISTRUSTED_MAX = 100;

/** Logs each rejected path and reason once, up to DISTRUSTED_MAX of them. */
export function distrustLog(log: (line: string) => void): (path: string, why: string) => void {
  const logged = new Set<string>();
  return (path, why) => {
    const line = `tmux: "${path}" is not used: ${why}`;
    if (logged.has(line) || logged.size >= DISTRUSTED_MAX) return;
    logged.add(line);
    log(line);
  };
}
