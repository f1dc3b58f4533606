/** The mirror: the time from key to echo, how much a flood slows the pane, and frames per second. */
import { beginStream } from "../../src/crypto/stream.ts";
import type { MirrorPhone } from "../../tests/helpers/mirror_phone.ts";
import { makeMirrorStage, type MirrorStage } from "../../tests/helpers/mirror_stage.ts";
import { until } from "../../tests/helpers/until.ts";
import { echoSample } from "../echo_sample.ts";
import { type Row, type Sample, timed } from "../measure.ts";
import { openPty, startPtyServer, untilEchoing } from "../pty_server.ts";
import { type SlowLink, slowLink } from "../slow_link.ts";

/** Half of a good mobile network's round trip. */
const ONE_WAY_MS = 10;
/** How long frames are counted. */
const COUNT_MS = 1_000;

interface EchoOptions {
  sealed: boolean;
  /** The alternative runs tmux in the pty. */
  tmux?: boolean;
  oneWayMs?: number;
}

/** Opens the mirror on an unpaired phone: sealed, or unsealed as on a page without cryptography. */
function watch(
  stage: MirrorStage,
  session: string,
  { sealed, wsUrl = stage.stack.wsUrl }: { sealed: boolean; wsUrl?: string },
): Promise<MirrorPhone> {
  const parties = { phone: "", listener: stage.stack.deviceId, agentSessionName: session };
  return stage.watch(session, { wsUrl, ...(sealed ? { handshake: () => beginStream(parties) } : {}) });
}

const echoOf = (phone: MirrorPhone): Sample =>
  echoSample({
    emulator: phone.terminal,
    type: (text) => phone.type({ type: "text", text }),
    clear: () => phone.type({ type: "key", key: "C-u" }),
    drawnWhen: (holds) => phone.drawnWhen(holds),
  });

/** Starts a pane whose program only echoes; svc has no profile for it, so its screen need not show a composer. */
const startEcho = (stage: MirrorStage): Promise<string> => stage.start(["cat"]);

const attachTo = ({ stack }: MirrorStage, session: string): string =>
  `tmux -S ${stack.sandbox.tmuxSocket} attach -t =${session}`;

/** Connects both alternatives through the same kind of link. */
async function openEcho(options: EchoOptions): Promise<Awaited<ReturnType<Row["open"]>>> {
  const { sealed, tmux = false, oneWayMs = 0 } = options;
  const stage = await makeMirrorStage();
  const links: SlowLink[] = [];
  const through = (port: number): number => {
    if (oneWayMs === 0) return port;
    const link = slowLink(port, { oneWayMs });
    links.push(link);
    return link.port;
  };
  const relay = new URL(stage.stack.wsUrl);
  relay.port = String(through(Number(relay.port)));
  const phone = await watch(stage, await startEcho(stage), { sealed, wsUrl: relay.href });
  const command = tmux ? attachTo(stage, await stage.start(["cat"])) : "cat";
  const server = await startPtyServer(stage.stack.sandbox, command);
  const page = await openPty(through(server.port));
  await untilEchoing(page);
  const close = async (): Promise<void> => {
    page.close();
    phone[Symbol.dispose]();
    for (const link of links) await link.close();
    await server.close();
    await stage[Symbol.asyncDispose]();
  };
  return { ours: echoOf(phone), theirs: echoSample(page), close };
}

function echoRow(what: string, options: EchoOptions): Row {
  return {
    name: `mirror: key → echo, ${what}`,
    beside: options.tmux
      ? "tmux attach in a pty under a WebSocket server"
      : "a pty under a WebSocket server, no tmux",
    aim: "< 1.5",
    samples: 200,
    open: () => openEcho(options),
  };
}

const floodRow: Row = {
  name: "mirror: seq 1 1000000 in a mirrored pane",
  beside: "the same without a phone",
  aim: "< 1.1",
  samples: 10,
  async open() {
    const stage = await makeMirrorStage();
    const { tmuxSocket } = stage.stack.sandbox;
    const done = `tmux -S ${tmuxSocket} wait-for -S done`;
    const program = ["sh", "-c", `while read go; do seq 1 1000000; ${done}; done`];
    const flood = (session: string): Sample => () =>
      timed(() => stage.tmux("send-keys", "-t", `=${session}:`, "go", "Enter", ";", "wait-for", "done"));
    const [mirrored, alone] = [await stage.start(program), await stage.start(program)];
    await watch(stage, mirrored, { sealed: true });
    return {
      ours: flood(mirrored),
      theirs: flood(alone),
      close: async () => await stage[Symbol.asyncDispose](),
    };
  },
};

/** Returns how much `count` grows in a second. */
const perSecond = (count: () => number): Sample => async () => {
  const before = count();
  const took = await timed(() => new Promise((resolve) => setTimeout(resolve, COUNT_MS)));
  return (count() - before) * 1_000 / took;
};

function framesRow(what: string, { program, aim }: { program: string[]; aim: string }): Row {
  return {
    name: `mirror: frames a second, ${what}`,
    beside: "tmux attach in a pty under a WebSocket server",
    aim,
    samples: 10,
    unit: "a second",
    async open() {
      const stage = await makeMirrorStage();
      const phone = await watch(stage, await stage.start(program), { sealed: true });
      const server = await startPtyServer(stage.stack.sandbox, attachTo(stage, await stage.start(program)));
      const page = await openPty(server.port);
      await until("what the pty's program draws", () => page.messages() > 0);
      const close = async (): Promise<void> => {
        page.close();
        await server.close();
        await stage[Symbol.asyncDispose]();
      };
      return { ours: perSecond(() => phone.frames), theirs: perSecond(page.messages), close };
    },
  };
}

/** Prints a line every 5 ms, more often than a screen is drawn. */
const BUSY = [
  "perl",
  "-e",
  '$| = 1; for (;;) { print "line ", $n++, "\\n"; select(undef, undef, undef, 0.005) }',
];

export const mirrorRows: Row[] = [
  echoRow("sealed, over a network of 20 ms", { sealed: true, oneWayMs: ONE_WAY_MS }),
  echoRow("sealed, on one machine", { sealed: true }),
  echoRow("plain, on one machine", { sealed: false }),
  echoRow("sealed, on one machine, beside tmux", { sealed: true, tmux: true }),
  floodRow,
  framesRow("200 lines a second", { program: BUSY, aim: "one each 16 ms" }),
  framesRow("in a flood", {
    program: ["yes"],
    aim: "at most one each 16 ms; five screens beyond 1.3 MB a second",
  }),
];
