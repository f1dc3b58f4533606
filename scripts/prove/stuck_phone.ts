/** `deno task prove:stuck`: a phone that stops reading for a minute during `yes`: memory, the pane's speed, and the screen afterwards. */
import { makeMirrorStage, type MirrorStage } from "../../tests/helpers/mirror_stage.ts";
import { type PhoneProcess, startPhoneProcess } from "../../tests/helpers/phone_process.ts";
import { until } from "../../tests/helpers/until.ts";
import { say } from "../say.ts";

const STUCK_MS = 60_000;
/** How long the panes are measured without a phone, and with a phone that reads. */
const OTHER_MS = 15_000;
const SAMPLE_MS = 500;
const GROWTH_MAX_MB = 32;
/** The phone may have been disconnected, and reconnects. */
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

interface Watched {
  /** Pids of `yes` in the mirrored pane, and in a pane of another tmux server. */
  programs: { mirrored: number; other: number };
  /** Pids of relay and listener. */
  processes: number[];
}

interface Seen {
  /** Output of the mirrored pane's program relative to the other one's, since other load slows both. */
  share: number;
  /** MB per second that the mirrored pane's program wrote. */
  rate: number;
  /** Peak memory of each process, in MB. */
  peak: number[];
}

async function watch(ms: number, { programs, processes }: Watched): Promise<Seen> {
  const written = (): Promise<number[]> => Promise.all(Object.values(programs).map(writtenMb));
  const peak = processes.map(() => 0);
  const [begun, before] = [performance.now(), await written()];
  for (let now = begun; now - begun < ms; now = performance.now()) {
    const memory = await Promise.all(processes.map(residentMb));
    for (const [at, mb] of memory.entries()) peak[at] = Math.max(peak[at] ?? 0, mb);
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  }
  const [mirrored = 0, other = 0] = (await written()).map((mb, at) => mb - (before[at] ?? 0));
  return { share: mirrored / other, rate: mirrored * 1_000 / (performance.now() - begun), peak };
}

/** A shell that runs `yes`; Ctrl-C ends `yes` but not the pane. */
const YES = ["sh", "-c", "trap : INT; yes; exec cat"];

/** Returns the pid of the child that the pane's shell runs. */
async function yesOf(shell: string): Promise<number> {
  return await until("yes to run", async () => {
    const children = await Deno.readTextFile(`/proc/${shell}/task/${shell}/children`);
    return Number(children.trim().split(" ")[0]);
  });
}

async function startMirrored(stage: MirrorStage): Promise<{ session: string; program: number }> {
  const session = await stage.start(YES);
  const shell = await stage.tmux("display-message", "-p", "-t", `=${session}:`, "#{pane_pid}");
  return { session, program: await yesOf(shell.trim()) };
}

/** Starts the same program under another tmux server. */
async function startOther({ stack: { sandbox } }: MirrorStage): Promise<number> {
  const size = ["-x", "100", "-y", "30"];
  const print = ["-P", "-F", "#{pid} #{pane_pid}"];
  const { stdout } = await new Deno.Command("tmux", {
    args: [
      "-S",
      `${sandbox.root}/other.sock`,
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      ...print,
      ...size,
      ...YES,
    ],
    env: sandbox.env,
    clearEnv: true,
  }).output();
  const [server = "", shell = ""] = new TextDecoder().decode(stdout).trim().split(" ");
  sandbox.killAtEnd(Number(server));
  return await yesOf(shell);
}

async function untilRight(phone: PhoneProcess): Promise<void> {
  let right = 0;
  await until("the phone's screen to be tmux's", async () => {
    right = await phone.difference() === "" ? right + 1 : 0;
    return right === 3;
  }, BACK_LIMIT_MS);
}

/** Prints the figures; returns true when a stuck phone costs no more than `GROWTH_MAX_MB`. */
function reportMemory(name: string, [before = 0, reading = 0, stuck = 0, after = 0]: number[]): boolean {
  const parts = [before, reading, stuck, after].map((mb) => mb.toFixed(0)).join(", ");
  const [beyond, own] = [stuck - reading, stuck - before].map((mb) => `${mb < 0 ? "" : "+"}${mb.toFixed(1)}`);
  say(
    `${name}: ${parts} MB without a phone, with one that reads, a stuck one, afterwards; ` +
      `${beyond} MB by being stuck, ${own} MB in all`,
  );
  return stuck - reading < GROWTH_MAX_MB;
}

async function main(): Promise<number> {
  await using stage = await makeMirrorStage();
  const { relay, listener } = stage.stack;
  const { session, program } = await startMirrored(stage);
  const watched: Watched = {
    programs: { mirrored: program, other: await startOther(stage) },
    processes: [relay.pid, listener.pid],
  };
  const without = await watch(OTHER_MS, watched);
  const phone = await startPhoneProcess(stage, session);
  const reading = await watch(OTHER_MS, watched);
  phone.stop();
  const stuck = await watch(STUCK_MS, watched);
  phone.goOn();
  await stage.keys(session, "C-c");
  await untilRight(phone);
  say("screen: 0 cells differ once the phone reads again");
  const after = await Promise.all(watched.processes.map(residentMb));
  const isBounded = ["relay", "listener"].map((name, at) =>
    reportMemory(name, [...[without, reading, stuck].map(({ peak }) => peak[at] ?? 0), after[at] ?? 0])
  );
  const rates = [without, reading, stuck].map(({ rate }) => rate.toFixed(2)).join(", ");
  const speed = (stuck.share / without.share).toFixed(2);
  say(
    `pane: ${rates} MB a second without a phone, with one, with a stuck one; ${speed} of its speed without`,
  );
  return isBounded.every((is) => is) ? 0 : 1;
}

Deno.exit(await main());
