/** Finds and ends the processes of a step that was cut off, including those that left its process tree, such as a tmux server. */

/** The environment variable that marks a step and everything it starts; the tests' sandbox passes it on. */
export const STEP_VARIABLE = "TEST_STEP";

/** How many times to look for processes started in the meantime. */
const ROUNDS = 20;

interface Row {
  pid: number;
  parent: number;
  /** Together with the pid, identifies a process even after the pid is reused. */
  started: string;
}

async function livingProcesses(): Promise<Row[]> {
  const ps = new Deno.Command("ps", { args: ["-A", "-o", "pid=,ppid=,stat=,lstart="] });
  const text = new TextDecoder().decode((await ps.output()).stdout);
  return [...text.matchAll(/^ *(\d+) +(\d+) +([^\s]+) +(.*)$/gm)].flatMap(
    ([, pid, parent, state = "Z", started = ""]) =>
      state.startsWith("Z") ? [] : [{ pid: Number(pid), parent: Number(parent), started }],
  );
}

/** True if the process's environment has the mark; only Linux shows it, elsewhere the process tree must suffice. */
async function isMarked(pid: number, mark: string): Promise<boolean> {
  return (await Deno.readTextFile(`/proc/${pid}/environ`).catch(() => "")).includes(mark);
}

/**
 * Returns the living processes that are in `known` or have the mark in their environment, and all their descendants.
 */
async function ownProcesses(known: readonly Row[], mark: string): Promise<Row[]> {
  const rows = await livingProcesses();
  const found = new Set<number>();
  await Promise.all(rows.map(async ({ pid, started }) => {
    const isKnown = known.some((row) => row.pid === pid && row.started === started);
    if (isKnown || await isMarked(pid, mark)) found.add(pid);
  }));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of rows) if (found.has(parent)) found.add(pid);
  }
  return rows.filter(({ pid }) => found.has(pid));
}

interface EndOptions {
  mark: string;
  /** How long the step may take to end by itself. */
  graceMs: number;
}

/** Ends the step and everything it started: first with SIGINT, on which `deno test` names the unfinished tests. */
export async function endStep(
  step: { pid: number; status: Promise<unknown> },
  { mark, graceMs }: EndOptions,
): Promise<void> {
  const root = (await livingProcesses()).filter(({ pid }) => pid === step.pid);
  // Processes that lose their parent now are no longer in the tree later.
  let known = await ownProcesses(root, mark);
  signal(step.pid, "SIGINT");
  let grace: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([step.status, new Promise((done) => grace = setTimeout(done, graceMs))]);
  clearTimeout(grace);
  for (let round = 0; round < ROUNDS; round++) {
    known = await ownProcesses(known, mark);
    if (known.length === 0) return;
    for (const { pid } of known) signal(pid, "SIGKILL");
  }
}

function signal(pid: number, name: Deno.Signal): void {
  try {
    Deno.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
