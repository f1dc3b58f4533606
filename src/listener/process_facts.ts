/** What the operating system says about a pane's process, which tmux does not. */
import type { Commands, Files } from "../runtime/types.ts";
import { isGuardedProgram, type ProcessFacts } from "./guard.ts";

export interface ProcessHost {
  platform: string;
  files: Pick<Files, "readText" | "readLink">;
  commands: Pick<Commands, "run">;
}

/** For a process that is gone: not stopped, foreground unknown (tmux's own guard decides then). */
export async function readProcessFacts(pid: number, host: ProcessHost): Promise<ProcessFacts> {
  return host.platform === "linux" ? await fromProc(pid, host) : await fromPs(pid, host);
}

async function fromProc(pid: number, host: ProcessHost): Promise<ProcessFacts> {
  const stat = await host.files.readText(`/proc/${pid}/stat`);
  const { state, foregroundGroup } = parseStat(stat ?? "");
  const [own, foreground] = await Promise.all([
    readExecutable(pid, host),
    foregroundGroup > 0 && foregroundGroup !== pid ? readExecutable(foregroundGroup, host) : undefined,
  ]);
  const isOwn = foregroundGroup === pid;
  return {
    stopped: state === "T" || state === "t",
    foreground: (isOwn ? own : foreground) ?? "",
    shellBelow: isGuardedProgram(own ?? ""),
  };
}

/** Its name without folders. Another user's process (sudo, su) hides its executable: its short name has to do. */
async function readExecutable(pid: number, host: ProcessHost): Promise<string | undefined> {
  try {
    return (await host.files.readLink(`/proc/${pid}/exe`))?.split("/").pop();
  } catch {
    return (await host.files.readText(`/proc/${pid}/comm`))?.trim();
  }
}

/** State and foreground process group of `/proc/<pid>/stat`; the name in parentheses may hold anything. */
export function parseStat(stat: string): { state: string; foregroundGroup: number } {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", foregroundGroup: Number(fields[5] ?? 0) };
}

async function fromPs(pid: number, host: ProcessHost): Promise<ProcessFacts> {
  const [state = "", group = "", own = ""] = (await ps("stat=,tpgid=,ucomm=", pid, host)).split(/\s+/);
  const foreground = Number(group) > 0 ? await ps("ucomm=", Number(group), host) : "";
  return { stopped: state.startsWith("T"), foreground, shellBelow: isGuardedProgram(own) };
}

async function ps(columns: string, pid: number, host: ProcessHost): Promise<string> {
  const { stdout } = await host.commands.run(["ps", "-o", columns, "-p", String(pid)]);
  return new TextDecoder().decode(stdout).trim();
}
