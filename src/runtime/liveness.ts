/** Decides whether a process of this user lives; a zombie, dead but not yet waited for, does not. */

/** @param read reads a file of /proc; throws when the process is gone */
export function livesByProc(pid: number, uid: number, read: (path: string) => string): boolean {
  let status: string;
  try {
    status = read(`/proc/${pid}/status`);
  } catch {
    return false;
  }
  const state = /^State:\s+(\S)/m.exec(status)?.[1];
  const owner = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return isAlive(state, Number(owner), uid);
}

/** @param line what `ps -o uid=,stat= -p <pid>` prints, empty for no such process */
export function livesByPs(line: string, uid: number): boolean {
  const [owner, state] = line.trim().split(/\s+/);
  return isAlive(state, Number(owner), uid);
}

function isAlive(state: string | undefined, owner: number, uid: number): boolean {
  if (state === undefined || state.startsWith("Z") || state.startsWith("X")) return false;
  return uid === 0 || owner === uid;
}
