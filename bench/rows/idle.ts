/** The cost of a listener while nothing happens: its share of a core, and its memory. */
import { makeStack, type Stack } from "../../tests/helpers/stack.ts";
import { until } from "../../tests/helpers/until.ts";
import type { Row, Sample, Stage } from "../measure.ts";
import { cpuSeconds, residentBytes } from "../process_figures.ts";

const SESSIONS = 20;
const SAMPLE_MS = 60_000;
/** Ten minutes in total. */
const SAMPLES = 10;
const MEGABYTE = 1_000_000;

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
      return await residentBytes(listener.pid) / MEGABYTE;
    },
  }),
];
