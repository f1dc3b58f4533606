/** Which client each stream is routed to, and how long a client stays. */
import assert from "node:assert/strict";
import { unknownAgent } from "../../../../src/agents/profiles.ts";
import { LINGER_MS, Mirrors } from "../../../../src/listener/mirror/mirrors.ts";
import type { Target } from "../../../../src/listener/targets.ts";
import type { ControlEvents } from "../../../../src/tmux/control_client.ts";
import { FakeClock } from "../../../helpers/fake_clock.ts";
import { DEFAULT_POLICY } from "../../../helpers/fake_pane.ts";

const target: Target = {
  socket: "/tmux.sock",
  session: "svc-p",
  sessionId: "$1",
  pane: "%3",
  panePid: 1,
  recordedPid: 0,
  run: "",
  directory: "",
  root: "",
  profile: unknownAgent,
  isProfiled: false,
  spawnOnly: false,
};
const noServer = { socket: target.socket, run: () => Promise.resolve("") };

const targets = {
  resolve: () => Promise.resolve({ kind: "found" as const, target }),
  known: () => undefined,
  current: () => Promise.resolve(target),
  server: () => noServer,
  whenCalm: () => Promise.resolve(),
};
const notTyped = (): never => {
  throw new Error("nothing is typed");
};

class Bench {
  readonly clock = new FakeClock();
  readonly clients: { events: ControlEvents; isClosed: boolean }[] = [];
  readonly closed: string[] = [];
  readonly log: string[] = [];
  anyServer: () => typeof noServer = () => noServer;
  /** The error of starting a client, if it fails. */
  cannotStart: Error | undefined;
  readonly mirrors: Mirrors;

  constructor() {
    this.mirrors = new Mirrors({
      read: () => Promise.resolve(undefined),
      clock: this.clock,
      targets: {
        ...targets,
        anyServer: () => this.anyServer(),
        openMirror: (_target, events) => {
          if (this.cannotStart !== undefined) throw this.cannotStart;
          const client = { events, isClosed: false };
          this.clients.push(client);
          return { request: () => {}, close: () => Promise.resolve(void (client.isClosed = true)) };
        },
      },
      typing: {
        targets,
        inputs: { of: notTyped },
        policy: DEFAULT_POLICY,
        effects: { processFacts: notTyped, isMuted: notTyped, isBusy: notTyped, writeMarker: notTyped },
        now: () => 0,
        elapsed: () => 0,
        typed: () => {},
      },
      keys: {
        deviceId: "dev_listener_01234567",
        secretOf: () => Promise.resolve(undefined),
        floor: () => Promise.resolve("off"),
      },
      config: {},
      link: {
        send: (event, data) => {
          if (event === "pane.closed" && "reason" in data) this.closed.push(String(data.reason));
          return true;
        },
        sendBinary: () => true,
      },
      audit: { record: () => {} },
      uploads: { ofStream: () => ({ take: notTyped, close: () => Promise.resolve() }) },
      log: (line) => void this.log.push(line),
    });
  }

  open(stream: number): Promise<void> {
    return this.mirrors.open({ stream, agentSessionName: target.session });
  }

  /** For each client, whether it was closed. */
  get ended(): boolean[] {
    return this.clients.map(({ isClosed }) => isClosed);
  }
}

Deno.test("mirrors: phones of one session share a client, and a phone that comes back reuses it", async () => {
  const bench = new Bench();
  await bench.open(1);
  await bench.open(2);
  bench.mirrors.closed(1);
  bench.clock.advance(LINGER_MS);
  assert.deepEqual(bench.ended, [false], "the other one watches");
  bench.mirrors.closed(2);
  bench.clock.advance(LINGER_MS - 1);
  await bench.open(3);
  bench.clock.advance(LINGER_MS);
  assert.deepEqual(bench.ended, [false]);
  bench.mirrors.lost();
  bench.clock.advance(LINGER_MS);
  assert.deepEqual(bench.ended, [true], "nobody came back");
  assert.equal(bench.clock.pending, 0);
  await bench.open(4);
  assert.deepEqual(bench.ended, [true, false]);
  await bench.mirrors.close();
  assert.deepEqual(bench.ended, [true, true], "at once");
});

Deno.test("mirrors: a client that ended is not reused [ev-pane-closed]", async () => {
  const bench = new Bench();
  await bench.open(1);
  bench.clients[0]?.events.ended();
  assert.deepEqual(bench.closed, ["mirror_lost"]);
  await bench.open(2);
  assert.equal(bench.clients.length, 2);
  bench.clock.advance(LINGER_MS);
  assert.deepEqual(bench.ended, [true, false]);
  await bench.mirrors.close();
  assert.equal(bench.clock.pending, 0);
});

Deno.test("mirrors: a window whose server cannot be reached is logged, and the stream continues", async () => {
  const bench = new Bench();
  bench.anyServer = () => {
    throw new TypeError("no connection is left");
  };
  await bench.open(1);
  await bench.mirrors.close();
  assert.deepEqual(bench.log, ["window of svc-p: size not changed: no connection is left"]);
});

Deno.test("mirrors: a client that cannot be started ends the stream and nothing else [ev-pane-closed]", async () => {
  const bench = new Bench();
  bench.cannotStart = new TypeError("Resource temporarily unavailable (os error 11)");
  await bench.open(1);
  assert.deepEqual(bench.closed, ["mirror_lost"]);
  assert.match(bench.log.join("\n"), /^mirror of svc-p: not opened: .*os error 11/);
  bench.cannotStart = undefined;
  bench.mirrors.lost();
  await bench.open(1);
  assert.deepEqual([bench.ended, bench.closed], [[false], ["mirror_lost"]], "nothing is left of the first");
  await bench.mirrors.close();
  assert.deepEqual([bench.ended, bench.clock.pending], [[true], 0]);
});
