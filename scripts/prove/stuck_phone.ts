/** `deno task prove:stuck`: a phone that stops reading for a minute during `yes`: memory, the pane's speed, and the screen afterwards. */
import { makeMirrorStage, type MirrorStage } from "../../tests/helpers/mirror_stage.ts";
import { type PhoneProcess, startPhoneProcess } from "../../tests/helpers/phone_process.ts";
import { until } from "../../tests/helpers/until.ts";
import { say } from "../say.ts";

const STUCK_MS = 60_000;
/** The pane alone is measured for so long, before and after. */
const ALONE_MS = 10_000;
const LOOK_MS = 500;
const GROWTH_MAX_MB = 32;
/** The phone may find its connection closed, and comes back by itself. */
const BACK_LIMIT_MS = 90_000;
const PAGE_BYTES = 4_096;
const MB = 1_048_576;

async function residentMb(pid: number): Promise<number> {
  const [, pages] = (await Deno.readTextFile(`/proc/${pid}/statm`)).split(" ");
  return Number(pages) * PAGE_BYTES / MB;
}

async function writtenMb(pid: number): Promise<number> {
  return Number(/^wchar: (\d+)$/m.exec(await Deno.readTextFile(`/proc/${pid}/io`))?.[1]) / MB;
}

interface Watch {
  /** MB that the pane's program wrote in a second. */
  rate: number;
  /** The most that each process had, in MB. */
  peak: number[];
}

async function watch(
  ms: number,
  { program, processes }: { program: number; processes: number[] },
): Promise<Watch> {
  const peak = processes.map(() => 0);
  const [begun, before] = [performance.now(), await writtenMb(program)];
  for (let now = begun; now - begun < ms; now = performance.now()) {
    const memory = await Promise.all(processes.map(residentMb));
    for (const [at, mb] of memory.entries()) peak[at] = Math.max(peak[at] ?? 0, mb);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return { rate: (await writtenMb(program) - before) * 1_000 / (performance.now() - begun), peak };
}

/** `yes` in the pane; Ctrl-C ends it, and the pane lives on. */
async function startYes(stage: MirrorStage): Promise<{ session: string; program: number }> {
  const session = await stage.start(["sh", "-c", "trap : INT; yes; exec cat"]);
  const shell = (await stage.tmux("display-message", "-p", "-t", `=${session}:`, "#{pane_pid}")).trim();
  const program = await until("yes to run", async () => {
    const children = await Deno.readTextFile(`/proc/${shell}/task/${shell}/children`);
    return Number(children.trim().split(" ")[0]);
  });
  return { session, program };
}

async function untilRight(phone: PhoneProcess): Promise<void> {
  let right = 0;
  await until("the phone's screen to be tmux's", async () => {
    right = await phone.difference() === "" ? right + 1 : 0;
    return right === 3;
  }, BACK_LIMIT_MS);
}

function tellMemory(name: string, [before = 0, during = 0, after = 0]: number[]): boolean {
  const growth = Math.max(during, after) - before;
  const parts = [before, during, after].map((mb) => mb.toFixed(1)).join(", ");
  say(`${name}: ${parts} MB without a phone, at most with a stuck one, afterwards; +${growth.toFixed(1)} MB`);
  return growth < GROWTH_MAX_MB;
}

async function main(): Promise<number> {
  await using stage = await makeMirrorStage();
  const { relay, listener } = stage.stack;
  const { session, program } = await startYes(stage);
  const watched = { program, processes: [relay.pid, listener.pid] };
  const first = await watch(ALONE_MS, watched);
  const phone = await startPhoneProcess(stage, session);
  const reading = await watch(ALONE_MS, watched);
  phone.stop();
  const stuck = await watch(STUCK_MS, watched);
  phone.goOn();
  await stage.keys(session, "C-c");
  await untilRight(phone);
  say("screen: 0 cells differ once the phone reads again");
  const after = await Promise.all(watched.processes.map(residentMb));
  const isBounded = ["relay", "listener"].map((name, at) =>
    tellMemory(name, [first, stuck].map(({ peak }) => peak[at] ?? 0).concat(after[at] ?? 0))
  );
  const rates = [first, reading, stuck].map(({ rate }) => rate.toFixed(2));
  const ratio = (stuck.rate / first.rate).toFixed(2);
  say(
    `pane: ${rates.join(", ")} MB a second without a phone, with one, with a stuck one; ${ratio} of without`,
  );
  return isBounded.every((is) => is) ? 0 : 1;
}

Deno.exit(await main());
