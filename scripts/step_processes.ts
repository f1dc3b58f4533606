/** Finds and ends the processes of a step that was cut off, also those that left its process tree, such as a tmux server. */

/** The variable that a step and what it starts have in their environment; the tests' sandbox passes it on. */
export const STEP_VARIABLE = "TEST_STEP";

/** How often to look again for processes that were started meanwhile. */
const ROUNDS = 20;

interface Row {
  pid: number;
  parent: number;
  /** With the pid it distinguishes a process from a later one. */
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

/** Only Linux shows the environment of a process; elsewhere the process tree has to do. */
async function isMarked(pid: number, mark: string): Promise<boolean> {
  return (await Deno.readTextFile(`/proc/${pid}/environ`).catch(() => "")).includes(mark);
}

/** Of the living processes: those of `known`, all that have the mark in their environment, and their descendants. */
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

/** Ends the step and all that it started: SIGINT first, at which `deno test` names the tests that had not ended. */
export async function endStep(
  step: { pid: number; status: Promise<unknown> },
  { mark, graceMs }: EndOptions,
): Promise<void> {
  const root = (await livingProcesses()).filter(({ pid }) => pid === step.pid);
  // What loses its parent now is not in the tree later.
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
