/** What a soak must not leave behind: open files, child processes, temporary files and clients of tmux. */
import { run } from "../helpers/run.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

export interface Holdings {
  /** Open files of each process. */
  descriptors: Record<string, number>;
  /** Processes below each process. */
  children: Record<string, number>;
  /** Files in the temporary folder and in `~/.svc`, by their names without numbers. */
  files: string[];
  tmuxClients: number;
}

interface Held {
  pids: Readonly<Record<string, number>>;
  sandbox: Sandbox;
  temporary: string;
}

/** Open files that a process may have more: of its own and its peers' connections a few stay open for a while. */
const SPARE_FILES = 16;
/** How long processes have to put away what they no longer need. */
const SETTLE_MS = 90_000;

export async function holdings({ pids, sandbox, temporary }: Held): Promise<Holdings> {
  const { stdout } = await run(["ps", "-A", "-o", "pid=,ppid="]);
  const parents = new Map(
    stdout.trim().split("\n").map((line) => line.trim().split(/\s+/).map(Number) as [number, number]),
  );
  const isBelow = (pid: number | undefined, root: number): boolean =>
    pid !== undefined && (parents.get(pid) === root || isBelow(parents.get(pid), root));
  const clients = await sandbox.tmux("list-clients", "-F", "#{client_pid}");
  const each = <T>(count: (pid: number) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, count(pid)]));
  return {
    descriptors: each((pid) => Array.from(Deno.readDirSync(`/proc/${pid}/fd`)).length),
    children: each((pid) => [...parents.keys()].filter((child) => isBelow(child, pid)).length),
    files: [...filesIn(temporary), ...filesIn(sandbox.svcHome)].sort(),
    tmuxClients: clients.split("\n").filter((line) => line !== "").length,
  };
}

/** What is there after and was not before, a line each. */
export function leftovers(before: Holdings, after: Holdings): string[] {
  const more = (
    what: string,
    one: Record<string, number>,
    { two, spare = 0 }: { two: Record<string, number>; spare?: number },
  ): string[] =>
    Object.entries(two).filter(([name, count]) => count > (one[name] ?? 0) + spare)
      .map(([name, count]) => `${name} has ${count} ${what}, ${one[name] ?? 0} before`);
  return [
    ...more("open files", before.descriptors, { two: after.descriptors, spare: SPARE_FILES }),
    ...more("child processes", before.children, { two: after.children }),
    ...after.files.filter((name) => !before.files.includes(name)).map((name) => `the file ${name}`),
    ...more("clients", { tmux: before.tmuxClients }, { two: { tmux: after.tmuxClients } }),
  ];
}

/** The holdings once nothing is left over, or after a while. */
export async function settledHoldings(held: Held, before: Holdings): Promise<Holdings> {
  let after = await holdings(held);
  await until("nothing left over", async () => {
    after = await holdings(held);
    return leftovers(before, after).length === 0;
  }, SETTLE_MS).catch(() => undefined);
  return after;
}

function* filesIn(folder: string, name = ""): Generator<string> {
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${name}/${entry.name}`;
    if (entry.isDirectory) yield* filesIn(`${folder}/${entry.name}`, path);
    else yield path.replace(/\d+/g, "n");
  }
}
