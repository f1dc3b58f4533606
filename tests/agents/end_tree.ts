/** Ends an agent and all its descendants: some of them ignore the hang-up of their terminal. */

/** Returns each process with its parent, from /proc. */
async function readParents(): Promise<Map<number, number>> {
  const parents = new Map<number, number>();
  for await (const entry of Deno.readDir("/proc")) {
    const pid = Number(entry.name);
    if (!pid) continue;
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => undefined);
    if (stat !== undefined) parents.set(pid, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  return parents;
}

/** Returns `root` and its descendants. */
export async function treeOf(root: number): Promise<number[]> {
  const parents = await readParents();
  const isUnder = (pid: number): boolean => pid === root || (pid > 1 && isUnder(parents.get(pid) ?? 0));
  return [...parents.keys()].filter(isUnder);
}

export async function endTree(root: number): Promise<void> {
  for (const pid of await treeOf(root)) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}
