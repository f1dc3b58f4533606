/** Behavior of the link over real sockets, on every runtime. */
import assert from "node:assert/strict";
import { type Clock, systemClock } from "../../src/async/clock.ts";
import {
  createNativeSocket,
  type CreateSocket,
  type LinkState,
  RelayLink,
} from "../../src/client/relay_link.ts";
import { CLOSE } from "../../src/protocol/errors.ts";
import { encodeFrame, type Frame } from "../../src/protocol/frames.ts";
import { createDirectSocket } from "../../src/runtime/direct_socket.ts";
import { SkippingClock } from "../helpers/fake_clock.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { type Manner, TinyRelay } from "./tiny_relay.ts";

/** Skips ahead until the condition holds: time runs fast only where nothing must finish within a limit. */
async function skipUntil(clock: SkippingClock, what: string, holds: () => boolean): Promise<void> {
  await until(what, () => {
    if (!holds()) clock.skip(1_000);
    return holds();
  });
}

/** The runtime's own socket, and the listener's. */
const SOCKETS: Readonly<Record<string, CreateSocket>> = {
  native: createNativeSocket,
  direct: createDirectSocket,
};

interface Scene {
  relay: TinyRelay;
  link: RelayLink;
  states: LinkState[];
  frames: Frame[];
  bytes: Uint8Array[];
}

async function withLink(
  options: { createSocket: CreateSocket; manner?: Manner; clock?: Clock },
  act: (scene: Scene) => Promise<void>,
): Promise<void> {
  const relay = await TinyRelay.start();
  relay.manner = options.manner ?? "welcoming";
  const states: LinkState[] = [];
  const frames: Frame[] = [];
  const bytes: Uint8Array[] = [];
  const link = new RelayLink({
    wsUrl: relay.wsUrl,
    apiKey: "svc_secret",
    hello: () => ({ role: "listener", name: "host", version: "0.1.0", capabilities: [] }),
    onFrame: (frame) => void frames.push(frame),
    onBinary: (chunk) => void bytes.push(chunk),
    onState: (state) => void states.push(state),
    clock: options.clock ?? systemClock,
    createSocket: options.createSocket,
  });
  try {
    link.start();
    await act({ relay, link, states, frames, bytes });
  } finally {
    await closed(link, relay);
    await relay.stop();
  }
}

/** Closes the link. Resolves when the relay has answered the close, so that the socket's timers are gone. */
async function closed(link: RelayLink, relay: TinyRelay): Promise<void> {
  link.close();
  if (!relay.isFrozen) await until("the end of the connection", () => relay.connections === 0);
}

function problemOf({ state }: RelayLink): string | undefined {
  return state.state === "waiting" ? state.problem?.code : undefined;
}

async function exchange({ relay, link, frames, bytes }: Scene): Promise<void> {
  await until("the welcome", () => link.connected);
  assert.deepEqual(relay.protocols, ["svc.v1", "svc.key.c3ZjX3NlY3JldA"]);
  assert.equal(link.send("listener.sessions", { sequence: 1, sessions: [] }, { id: "1" }), true);
  link.sendBinary(new Uint8Array([1, 2, 255]));
  relay.send(encodeFrame("listener.stored", { count: 0 }, { re: "1" }));
  relay.send(new Uint8Array([3, 0, 254]));
  await until("both directions", () => frames.length + bytes.length + relay.bytes.length === 3);
  assert.equal(frames[0]?.re, "1");
  assert.deepEqual(bytes[0], new Uint8Array([3, 0, 254]));
  assert.deepEqual(relay.bytes[0], new Uint8Array([1, 2, 255]));
  assert.deepEqual(relay.frames.map((frame) => frame.event), ["hello", "listener.sessions"]);
}

async function restart({ relay, link, states }: Scene): Promise<void> {
  await until("the welcome", () => link.connected);
  const { port } = relay;
  await relay.stop(CLOSE.SERVICE_RESTART);
  await until("the loss", () => !link.connected);
  const again = await TinyRelay.start(port);
  try {
    await until("the return", () => link.connected);
    assert.equal(relay.mostAtOnce, 1);
    assert.equal(again.mostAtOnce, 1);
    const problems = states.flatMap((state) => state.state === "waiting" ? [state.problem?.code] : []);
    assert.equal(problems[0], "restarting");
  } finally {
    await closed(link, again);
    await again.stop();
  }
}

const casesOf = (createSocket: CreateSocket): Case[] => [
  {
    name: "frames and bytes go both ways, the key in the handshake [ws-subprotocol, ws-key-subprotocol]",
    run: () => withLink({ createSocket }, exchange),
  },
  {
    name: "the link reconnects to a relay that restarts, with one connection at a time [ws-1012]",
    run: () => withLink({ createSocket }, restart),
  },
  {
    name:
      "a refused handshake is reported as a bad key, not as a network failure [ws-401, dep-handshake-why]",
    run: () =>
      withLink({ createSocket, manner: "refusing" }, async ({ link, relay }) => {
        await until("the explanation", () => problemOf(link) === "unauthenticated");
        relay.manner = "welcoming";
        link.reconnectNow();
        await until("the welcome", () => link.connected);
      }),
  },
  {
    name: "a relay that is not running is reported as unreachable",
    run: () =>
      withLink({ createSocket }, async ({ link, relay }) => {
        await relay.stop();
        await until("the explanation", () => problemOf(link) === "unreachable");
      }),
  },
  {
    name: "a half-open connection is dropped and replaced [ws-ping]",
    run: () => {
      const clock = new SkippingClock();
      return withLink({ createSocket, clock }, async ({ link, relay, states }) => {
        await until("the welcome", () => link.connected);
        relay.freeze();
        const silent = (state: LinkState) => state.state === "waiting" && state.problem?.code === "silent";
        await skipUntil(clock, "the silence to be noticed", () => states.some(silent));
        await until("the return", () => link.connected);
      });
    },
  },
  {
    name: "an unanswered handshake times out and is retried",
    run: () => {
      const clock = new SkippingClock();
      return withLink({ createSocket, manner: "deaf", clock }, async ({ link, relay, states }) => {
        const isLost = (): boolean => states.some((state) => state.state === "waiting");
        await skipUntil(clock, "the first loss", isLost);
        relay.manner = "welcoming";
        await until("the welcome", () => link.connected);
      });
    },
  },
];

export const cases: readonly Case[] = Object.entries(SOCKETS).flatMap(([kind, createSocket]) =>
  casesOf(createSocket).map(({ name, run }) => ({ name: `${kind}: ${name}`, run }))
);
