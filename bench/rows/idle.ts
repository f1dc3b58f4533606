/** What a listener costs while nothing happens: its share of a core, and its memory. */
import { makeStack, type Stack } from "../../tests/helpers/stack.ts";
import { until } from "../../tests/helpers/until.ts";
import type { Row, Sample, Stage } from "../measure.ts";

const SESSIONS = 20;
const SAMPLE_MS = 60_000;
/** Ten minutes together. */
const SAMPLES = 10;
const TICKS_PER_SECOND = 100;
const MEGABYTE = 1_000_000;

/** CPU seconds of a process so far. */
async function cpuSeconds(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function megabytes(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024 / MEGABYTE;
}

async function openIdle(sample: (stack: Stack) => Sample): Promise<Stage> {
  const stack = await makeStack();
  const { sandbox } = stack;
  for (let number = 0; number < SESSIONS; number++) {
    const name = `svc-bench-${number}`;
    await sandbox.newSession(name, ["sh", "-c", "printf '❯ \\necho · idle\\033[1;3H'; exec cat"]);
    await sandbox.tmux("set-option", "-t", `=${name}:`, "@svc_agent", "echo");
  }
  await until("the sessions", () => stack.listener.output().includes(`reported ${SESSIONS} session(s)`));
  return { ours: sample(stack), close: async () => await stack[Symbol.asyncDispose]() };
}

const calm = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));

const row = (
  what: string,
  { sample, ...more }: { sample: (stack: Stack) => Sample; unit: string; aim: string },
): Row => ({
  ...{ name: `idle: listener with ${SESSIONS} sessions, ${what}`, beside: "nothing", samples: SAMPLES },
  ...more,
  open: () => openIdle(sample),
});

export const idleRows: Row[] = [
  row("share of a core in a minute", {
    unit: "%",
    aim: "< 0.3",
    sample: ({ listener }) => async () => {
      const before = await cpuSeconds(listener.pid);
      await calm();
      return (await cpuSeconds(listener.pid) - before) * 100_000 / SAMPLE_MS;
    },
  }),
  row("memory after each minute", {
    unit: "MB",
    aim: "< 90, without growth",
    sample: ({ listener }) => async () => {
      await calm();
      return await megabytes(listener.pid);
    },
  }),
];
