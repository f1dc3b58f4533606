/** One pane watched by many phones: what each MB costs relay and listener, compared with a server that broadcasts. */
import { WebSocket } from "ws";
import { beginStream } from "../../src/crypto/stream.ts";
import { MIRROR_CREDIT_BYTES } from "../../src/protocol/limits.ts";
import { Peer } from "../../tests/contract/relay_peer.ts";
import { makeMirrorStage, type MirrorStage } from "../../tests/helpers/mirror_stage.ts";
import { startSvc } from "../../tests/helpers/program.ts";
import { until } from "../../tests/helpers/until.ts";
import { denoCommand } from "../bare.ts";
import { type Row, type Stage, timed } from "../measure.ts";
import { cpuSeconds } from "../process_figures.ts";

const PHONES = 100;
const SAMPLE_MS = 3_000;
const SAMPLES = 5;
const MEGABYTE = 1_000_000;
/** A phone returns its credit in steps of this many bytes. */
const CREDIT_STEP_BYTES = MIRROR_CREDIT_BYTES / 4;
/** The stream's number, the same on each phone. */
const STREAM = 1;
const BROADCAST_SERVER = denoCommand("../broadcast_server.ts", import.meta.url);

/** Prints a full line every 5 ms. */
const LINES = [
  "perl",
  "-e",
  '$| = 1; for (;;) { print "x" x 70, $n++, "\\n"; select(undef, undef, undef, 0.005) }',
];

/** Totals over all phones. */
interface Received {
  bytes: number;
  frames: number;
}

/** Counts what arrives, and calls `credit` after each step of bytes. */
function count(socket: WebSocket, received: Received, credit: (bytes: number) => void = () => {}): void {
  let uncredited = 0;
  socket.removeAllListeners("message");
  socket.on("message", (data: Uint8Array, isBinary) => {
    if (!isBinary) return;
    received.bytes += data.length;
    received.frames += 1;
    uncredited += data.length;
    if (uncredited < CREDIT_STEP_BYTES) return;
    credit(uncredited);
    uncredited = 0;
  });
}

/** Connects a phone that draws nothing, since one machine could not draw a hundred screens. */
async function watch(
  { stack }: MirrorStage,
  { session, isSealed, received }: { session: string; isSealed: boolean; received: Received },
): Promise<void> {
  const peer = await Peer.greeted(stack.wsUrl, { key: stack.apiKey, hello: {} });
  const parties = { phone: "", listener: stack.deviceId, agentSessionName: session };
  const hello = isSealed ? (await beginStream(parties)).hello : {};
  peer.send("pane.open", { stream: STREAM, agentSessionName: session, deviceId: stack.deviceId, ...hello });
  await peer.first("pane.opened");
  count(peer.socket, received, (bytes) => peer.send("pane.credit", { stream: STREAM, bytes }));
}

interface Seen extends Received {
  seconds: number;
  /** CPU seconds of the processes. */
  cpu: number;
}

async function sampled(received: Received, pids: readonly number[]): Promise<Seen> {
  const cpu = async (): Promise<number> =>
    (await Promise.all(pids.map(cpuSeconds))).reduce((sum, seconds) => sum + seconds, 0);
  const before = { ...received, cpu: await cpu() };
  const took = await timed(() => new Promise((resolve) => setTimeout(resolve, SAMPLE_MS)));
  return {
    bytes: received.bytes - before.bytes,
    frames: received.frames - before.frames,
    cpu: await cpu() - before.cpu,
    seconds: took / 1_000,
  };
}

/** The alternative sends messages of the same size and at the same rate as svc did. */
async function openWatched(isSealed: boolean, figure: (seen: Seen) => number): Promise<Stage> {
  const stage = await makeMirrorStage();
  const { sandbox, relay, listener } = stage.stack;
  const session = await stage.start(LINES);
  const program = Number(await stage.tmux("display-message", "-p", "-t", `=${session}:`, "#{pane_pid}"));
  const received: Received = { bytes: 0, frames: 0 };
  for (let phone = 0; phone < PHONES; phone++) await watch(stage, { session, isSealed, received });
  const mirrored = (): Promise<Seen> => sampled(received, [relay.pid, listener.pid]);
  const { bytes, frames, seconds } = await mirrored();
  const form = [Math.round(bytes / frames), frames / seconds / PHONES].map(String);
  const server = startSvc(sandbox, form, { launch: BROADCAST_SERVER });
  const [, url = ""] = await server.line(/^listening on (\S+)$/);
  return {
    async ours(): Promise<number> {
      Deno.kill(program, "SIGCONT");
      const seen = await mirrored();
      Deno.kill(program, "SIGSTOP");
      return figure(seen);
    },
    async theirs(): Promise<number> {
      const sockets = Array.from({ length: PHONES }, () => new WebSocket(url));
      await until("open sockets", () => sockets.every(({ readyState }) => readyState === WebSocket.OPEN));
      const received: Received = { bytes: 0, frames: 0 };
      for (const socket of sockets) count(socket, received);
      const seen = await sampled(received, [server.pid]);
      for (const socket of sockets) socket.terminate();
      return figure(seen);
    },
    close: async () => await stage[Symbol.asyncDispose](),
  };
}

interface Wanted {
  isSealed: boolean;
  aim: string;
  unit: string;
  figure(seen: Seen): number;
}

const row = (what: string, { isSealed, figure, ...more }: Wanted): Row => ({
  name: `mirror: one pane, ${PHONES} phones, ${what}`,
  beside: "a WebSocket server that broadcasts",
  samples: SAMPLES,
  ...more,
  open: () => openWatched(isSealed, figure),
});

const cpuPerMegabyte = ({ cpu, bytes }: Seen): number => cpu * 1_000 * MEGABYTE / bytes;
const framesPerSecond = ({ frames, seconds }: Seen): number => frames / seconds / PHONES;
const CPU = { unit: "ms", figure: cpuPerMegabyte };
const FRAMES = { unit: "a second", figure: framesPerSecond };

export const watcherRows: Row[] = [
  row("CPU for each MB, plain", { ...CPU, isSealed: false, aim: "< 1.3" }),
  row("CPU for each MB, sealed", { ...CPU, isSealed: true, aim: "a figure" }),
  row("frames a second for each, plain", { ...FRAMES, isSealed: false, aim: "a figure" }),
  row("frames a second for each, sealed", { ...FRAMES, isSealed: true, aim: "a figure" }),
];
