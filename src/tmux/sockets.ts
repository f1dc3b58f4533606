/** Finds the tmux servers of this user (spec, section 4, "Tmux socket discovery"). */
import type { Commands, Files } from "../runtime/types.ts";
import { folderTrust, socketTrust } from "./trust.ts";

export interface DiscoveryEnvironment {
  uid: number;
  env: { get(name: string): string | undefined };
  files: Pick<Files, "list" | "info" | "realPath">;
  commands: Pick<Commands, "run">;
  /** A socket is there, and another account could stand behind it: told once each time that it is looked at. */
  distrusted?(path: string, why: string): void;
}

/**
 * Candidate socket paths, in the order of the spec: `SVC_TMUX_SOCKET` alone when set; the default location; `$TMPDIR`;
 * `/tmp/tmux-<uid>/`. Stale socket files may be among them.
 */
export async function socketFiles(host: DiscoveryEnvironment): Promise<string[]> {
  const explicit = host.env.get("SVC_TMUX_SOCKET");
  if (explicit) return await ownSocket(explicit, host);
  const folder = `tmux-${host.uid}`;
  const roots = [host.env.get("TMUX_TMPDIR") ?? "/tmp", host.env.get("TMPDIR"), "/tmp"];
  const folders = [
    ...new Set(roots.flatMap((root) => root ? [`${root.replace(/\/+$/, "")}/${folder}`] : [])),
  ];
  const found = await Promise.all(folders.map((path) => socketsIn(path, host)));
  return [...new Set(found.flat())];
}

async function socketsIn(folder: string, host: DiscoveryEnvironment): Promise<string[]> {
  const trust = await folderTrust(folder, host);
  if (trust.kind === "refused") host.distrusted?.(folder, trust.why);
  if (trust.kind !== "trusted") return [];
  const names = (await host.files.list(trust.path)).sort((a, b) =>
    Number(b === "default") - Number(a === "default")
  );
  return (await Promise.all(names.map((name) => ownSocket(`${trust.path}/${name}`, host)))).flat();
}

/** The resolved path of a socket that no other account can stand behind. */
async function ownSocket(path: string, host: DiscoveryEnvironment): Promise<string[]> {
  const trust = await socketTrust(path, host);
  if (trust.kind === "refused") host.distrusted?.(path, trust.why);
  return trust.kind === "trusted" ? [trust.path] : [];
}

/** Sockets of running tmux servers as `lsof` sees them: the last resort, which finds any `-S` path. Empty without lsof. */
export async function runningServerSockets(host: DiscoveryEnvironment): Promise<string[]> {
  if (host.env.get("SVC_TMUX_SOCKET")) return [];
  const list = ["lsof", "-a", "-w", "-u", String(host.uid), "-c", "tmux", "-U", "-Fn"];
  const { stdout } = await host.commands.run(list);
  const paths = parseLsof(new TextDecoder().decode(stdout));
  const owned = await Promise.all(paths.map((path) => ownSocket(path, host)));
  return [...new Set(owned.flat())];
}

/** The absolute paths in lsof's `-Fn` output: lines `n<path>`, on Linux followed by ` type=STREAM …`. */
export function parseLsof(output: string): string[] {
  const names = output.split("\n").filter((line) => line.startsWith("n/")).map((line) => line.slice(1));
  return [...new Set(names.map((name) => name.replace(/ type=\w+.*$/, "")))];
}
