/** What a soak must not leave behind: open files, processes, temporary files and clients of tmux. */
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

type Counts = Record<string, number>;

export interface Holdings {
  /** Open files of each svc process. */
  descriptors: Counts;
  /** Every process in the sandbox, whoever started it, by its program's name. */
  processes: Counts;
  /** Files in the temporary folder and in `~/.svc`, by their names without numbers. */
  files: Counts;
  tmuxClients: number;
}

interface Held {
  pids: Readonly<Record<string, number>>;
  sandbox: Sandbox;
  temporary: string;
}

/** How many more files a process may have open at the end: a few of its connections stay open for a while. */
const SPARE_FILES = 16;
/** How long processes may take to release what they no longer need. */
const SETTLE_MS = 90_000;
/** Only what exists throughout this time counts, so a command that happens to run does not. */
const LASTING_MS = 10_000;

async function holdings({ pids, sandbox, temporary }: Held): Promise<Holdings> {
  const clients = await sandbox.tmux("list-clients", "-F", "#{client_pid}");
  const descriptors = Object.entries(pids).map(([name, pid]) =>
    [name, Array.from(Deno.readDirSync(`/proc/${pid}/fd`)).length] as const
  );
  return {
    descriptors: Object.fromEntries(descriptors),
    processes: countEach(processesIn(sandbox)),
    files: countEach([...filesIn(temporary), ...filesIn(sandbox.svcHome)]),
    tmuxClients: clients.split("\n").filter((line) => line !== "").length,
  };
}

/** Returns the minimum of each count over `LASTING_MS`. */
export async function lastingHoldings(held: Held): Promise<Holdings> {
  const end = performance.now() + LASTING_MS;
  let least = await holdings(held);
  await until("what is held for long", async () => {
    least = lesser(least, await holdings(held));
    return performance.now() >= end;
  });
  return least;
}

/** Returns the holdings once nothing is left over, or after `SETTLE_MS`. */
export async function settledHoldings(held: Held, before: Holdings): Promise<Holdings> {
  let after = await holdings(held);
  await until("nothing left over", async () => {
    after = await holdings(held);
    return leftovers(before, after).length === 0;
  }, SETTLE_MS).catch(() => undefined);
  return after;
}

/** Lists what exists now and did not exist before, one per line. */
export function leftovers(before: Holdings, after: Holdings): string[] {
  const more = (
    one: Counts,
    two: Counts,
    { spare = 0, line }: { spare?: number; line(name: string, counts: string): string },
  ): string[] =>
    Object.entries(two).filter(([name, count]) => count > (one[name] ?? 0) + spare)
      .map(([name, count]) => line(name, `${count}, ${one[name] ?? 0} before`));
  return [
    ...more(before.descriptors, after.descriptors, {
      spare: SPARE_FILES,
      line: (name, counts) => `open files of ${name}: ${counts}`,
    }),
    ...more(before.processes, after.processes, { line: (name, counts) => `processes "${name}": ${counts}` }),
    ...more(before.files, after.files, { line: (name, counts) => `files ${name}: ${counts}` }),
    ...more({ tmux: before.tmuxClients }, { tmux: after.tmuxClients }, {
      line: (name, counts) => `clients of ${name}: ${counts}`,
    }),
  ];
}

export const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

function lesser(one: Holdings, two: Holdings): Holdings {
  const least = (a: Counts, b: Counts): Counts =>
    Object.fromEntries(
      Object.entries(a).map(([name, count]) => [name, Math.min(count, b[name] ?? 0)] as const)
        .filter(([, count]) => count > 0),
    );
  return {
    descriptors: least(one.descriptors, two.descriptors),
    processes: least(one.processes, two.processes),
    files: least(one.files, two.files),
    tmuxClients: Math.min(one.tmuxClients, two.tmuxClients),
  };
}

function countEach(names: Iterable<string>): Counts {
  const counts: Counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Finds processes by the sandbox's HOME, which they inherit even if their parent has ended. */
function* processesIn({ home }: Sandbox): Generator<string> {
  for (const { name: pid } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const environment = Deno.readTextFileSync(`/proc/${pid}/environ`);
      if (environment.split("\0").includes(`HOME=${home}`)) {
        yield Deno.readTextFileSync(`/proc/${pid}/comm`).trim();
      }
    } catch {
      // The process has ended in the meantime, or belongs to another user.
    }
  }
}

function* filesIn(folder: string, name = ""): Generator<string> {
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${name}/${entry.name}`;
    if (entry.isDirectory) yield* filesIn(`${folder}/${entry.name}`, path);
    else yield path.replace(/\d+/g, "n");
  }
}
