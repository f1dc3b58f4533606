/** The link through every kind of failure, with a fake clock and fake sockets. */

import assert from "node:assert/strict";
import { linkProblem, needsSignIn } from "../../../src/client/link_problem.ts";
import {
  CONNECT_LIMIT_MS,
  type LinkState,
  RelayLink,
  UNSENT_MAX_BYTES,
} from "../../../src/client/relay_link.ts";
import { CLOSE, problem, type WireErrorCode } from "../../../src/protocol/errors.ts";
import type { Frame } from "../../../src/protocol/frames.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";
import { until } from "../../helpers/until.ts";
import { FakeSockets } from "./fake_socket.ts";

interface Setup {
  /** The HTTP answer when the link asks why the handshake failed. */
  http?: () => Response;
}

function linkOf({ http = () => Response.json({ pushes: [], status: "ok", version: "0" }) }: Setup = {}) {
  const clock = new FakeClock(1_000_000);
  const sockets = new FakeSockets();
  const states: LinkState[] = [];
  const frames: Frame[] = [];
  const link = new RelayLink({
    wsUrl: "wss://relay.example/ws",
    apiKey: "svc_ÿ?>",
    hello: () => ({ role: "phone", name: "Phone", version: "0.1.0", capabilities: [] }),
    onFrame: (frame) => frames.push(frame),
    onState: (state) => states.push(state),
    random: () => 0.5,
    clock,
    createSocket: sockets.create,
    fetch: () => Promise.resolve().then(http),
  });
  return { link, clock, sockets, states, frames };
}

const waits = (states: LinkState[]): number[] =>
  states.flatMap((state) => state.state === "waiting" ? [state.retryInMs] : []);

function problemOf(state: LinkState): string | undefined {
  return state.state === "waiting" ? state.problem?.code : undefined;
}

Deno.test("it sends the key in the subprotocol and is connected after the welcome [ws-hello, ws-key-subprotocol]", () => {
  const { link, sockets, states } = linkOf();
  link.start();
  assert.deepEqual(sockets.last.protocols, ["svc.v1", "svc.key.c3ZjX8O_Pz4"]);
  sockets.last.welcome(1_000_250);
  assert.deepEqual(sockets.last.events, ["hello"]);
  const [connecting, connected] = states;
  assert.equal(connecting?.state, "connecting");
  assert.ok(connected?.state === "connected");
  assert.equal(connected.clockOffsetMs, 250);
  link.close();
});

Deno.test("without a connection nothing is sent, and send returns false", () => {
  const { link, sockets } = linkOf();
  assert.equal(link.send("ping", {}), false);
  link.start();
  sockets.last.handlers.opened();
  assert.equal(link.send("ping", {}), false, "before the welcome");
  sockets.last.welcome();
  assert.equal(link.send("listener.stored", { count: 1 }, { re: "7" }), true);
  assert.equal(link.sendBinary(new Uint8Array([1])), true);
  link.close();
  assert.equal(link.send("ping", {}), false);
});

Deno.test("frames are passed on, pings are answered, unknown and malformed frames are counted [ws-unknown, ws-ping]", () => {
  const { link, sockets, frames } = linkOf();
  link.start();
  sockets.last.welcome();
  sockets.last.says("listener.stored", { count: 2 }, { re: "a" });
  sockets.last.says("ping", {}, { id: "9" });
  sockets.last.handlers.text('{"event":"from.the.future","data":{}}');
  sockets.last.handlers.text("no JSON");
  sockets.last.handlers.text(JSON.stringify({ event: "pong", data: { more: "x".repeat(600_000) } }));
  assert.deepEqual(frames.map((frame) => [frame.event, frame.re]), [["listener.stored", "a"]]);
  assert.deepEqual(sockets.last.frames.at(-1), { event: "pong", id: undefined, re: "9", data: {} });
  assert.deepEqual(link.counters, { unknownEvents: 1, malformedFrames: 2 });
  link.close();
});

Deno.test("a restarting relay is reconnected to after a growing, jittered delay [ws-1012, ws-backoff]", () => {
  const { link, clock, sockets, states } = linkOf();
  link.start();
  for (let round = 0; round < 4; round++) {
    sockets.last.welcome();
    sockets.last.ends(CLOSE.SERVICE_RESTART);
    assert.equal(problemOf(link.state), "restarting");
    clock.advance(waits(states).at(-1) ?? 0);
  }
  assert.deepEqual(waits(states), [125, 250, 500, 1_000]);
  assert.equal(sockets.made.length, 5);
  assert.equal(sockets.alive, 1, "never two sockets");
  link.close();
  assert.equal(clock.pending, 0);
});

Deno.test("a minute of calm resets the delays [ws-backoff, style-backoff]", () => {
  const { link, clock, sockets, states } = linkOf();
  link.start();
  for (let round = 0; round < 3; round++) {
    sockets.last.welcome();
    for (let second = 0; second < 61; second++) {
      clock.advance(1_000);
      sockets.last.says("pong", {});
    }
    sockets.last.ends(1006);
    clock.advance(waits(states).at(-1) ?? 0);
  }
  assert.deepEqual(waits(states), [125, 125, 125]);
  link.close();
});

Deno.test("a link that only looks open is dropped after 40 s and reconnected [ws-ping]", () => {
  const { link, clock, sockets } = linkOf();
  link.start();
  sockets.last.welcome();
  clock.advance(40_000);
  assert.equal(problemOf(link.state), "silent");
  assert.equal(sockets.alive, 0);
  clock.advance(1_000);
  assert.equal(sockets.alive, 1);
  link.close();
});

Deno.test("a watched link reports silence within 2 s, and when it is over", () => {
  const { link, clock, sockets } = linkOf();
  link.watch(true);
  link.start();
  sockets.last.welcome();
  clock.advance(2_000);
  assert.ok(link.state.state === "connected" && !link.state.answering);
  sockets.last.says("pong", {});
  assert.ok(link.state.state === "connected" && link.state.answering);
  assert.equal(sockets.made.length, 1);
  link.close();
});

Deno.test("a handshake that never completes is dropped after 10 s", () => {
  const { link, clock, sockets } = linkOf();
  link.start();
  clock.advance(CONNECT_LIMIT_MS);
  assert.equal(link.state.state, "waiting");
  assert.equal(sockets.alive, 0);
  clock.advance(500);
  assert.equal(sockets.alive, 1, "it tries again");
  link.close();
});

Deno.test("an open connection without a welcome is dropped after 10 s", () => {
  const { link, clock, sockets } = linkOf();
  link.start();
  sockets.last.handlers.opened();
  clock.advance(CONNECT_LIMIT_MS);
  assert.equal(problemOf(link.state), "no_welcome");
  link.close();
});

const HANDSHAKES: [string, () => Response, string][] = [
  ["a bad key", () => wireAnswer("unauthenticated"), "unauthenticated"],
  ["a missing scope", () => wireAnswer("missing_scope"), "missing_scope"],
  [
    "a proxy without WebSockets",
    () => Response.json({ pushes: [], status: "ok", version: "0" }),
    "handshake_failed",
  ],
  ["somebody else's server", () => new Response("<html>"), "bad_answer"],
  ["a relay that is away behind a proxy", () => new Response("Bad Gateway", { status: 502 }), "unreachable"],
  ["nobody", () => {
    throw new TypeError("refused");
  }, "unreachable"],
];

function wireAnswer(code: WireErrorCode): Response {
  const body = problem(code);
  return Response.json(body, { status: body.status });
}

for (const [who, http, expected] of HANDSHAKES) {
  Deno.test(`a handshake that failed because of ${who} is explained [dep-handshake-why]`, async () => {
    const { link, sockets } = linkOf({ http });
    link.start();
    sockets.last.ends(1006);
    await until("the explanation", () => problemOf(link.state));
    assert.equal(problemOf(link.state), expected);
    link.close();
  });
}

Deno.test("a bad key is retried, but only every 30 s", async () => {
  const { link, clock, sockets, states } = linkOf({ http: () => wireAnswer("unauthenticated") });
  link.start();
  for (let round = 1; round <= 3; round++) {
    sockets.last.ends(1006);
    await until("the explanation", () => problemOf(link.state));
    clock.advance(29_999);
    assert.equal(sockets.made.length, round);
    clock.advance(1);
    assert.equal(sockets.made.length, round + 1);
  }
  assert.equal(waits(states).filter((wait) => wait === 30_000).length, 3);
  link.close();
});

const LASTING = [
  [CLOSE.REVOKED, "revoked"],
  [CLOSE.REPLACED, "replaced"],
  [CLOSE.DEVICE_TAKEN, "device_taken"],
  [CLOSE.FLOOD, "flood"],
  [CLOSE.POLICY, "wrong_role"],
] as const;
for (const [code, expected] of LASTING) {
  Deno.test(`after ${expected} (${code}) it keeps retrying slowly, and says why`, () => {
    const { link, clock, sockets } = linkOf();
    link.start();
    sockets.last.welcome();
    sockets.last.ends(code, `${expected}: because`);
    assert.deepEqual([problemOf(link.state), sockets.alive], [expected, 0]);
    clock.advance(29_999);
    assert.equal(sockets.alive, 0);
    clock.advance(1);
    assert.equal(sockets.alive, 1);
    link.close();
  });
}

Deno.test("only a link that cannot succeed without another key asks the user to sign in again", () => {
  const asking = LASTING.filter(([, problem]) => needsSignIn(linkProblem(problem))).map(([, problem]) =>
    problem
  );
  assert.deepEqual(asking, ["revoked", "device_taken", "wrong_role"]);
  assert.equal(needsSignIn(linkProblem("unreachable")), false);
});

Deno.test("a connection closed by the relay's rules reports the relay's reason", () => {
  const { link, sockets } = linkOf();
  link.start();
  sockets.last.handlers.opened();
  sockets.last.ends(CLOSE.POLICY, "silent too long");
  assert.ok(link.state.state === "waiting");
  assert.equal(link.state.problem?.message, "The relay closed the connection: silent too long.");
  link.close();
});

Deno.test("a relay that does not read is disconnected, instead of buffering without end", () => {
  const { link, sockets } = linkOf();
  link.start();
  sockets.last.welcome();
  sockets.last.bufferedAmount = UNSENT_MAX_BYTES;
  assert.equal(link.sendBinary(new Uint8Array(1)), false);
  assert.equal(problemOf(link.state), "congested");
  assert.equal(sockets.alive, 0);
  link.close();
});

Deno.test("reconnectNow ends a wait early, and pings an open connection", () => {
  const { link, clock, sockets } = linkOf();
  link.start();
  sockets.last.welcome();
  link.reconnectNow();
  assert.deepEqual(sockets.last.events, ["hello", "ping"]);
  sockets.last.ends(CLOSE.REVOKED);
  link.reconnectNow();
  assert.equal(link.state.state, "connecting");
  link.reconnectNow();
  assert.equal(sockets.alive, 1, "never two sockets");
  clock.advance(CONNECT_LIMIT_MS - 1);
  assert.equal(sockets.made.length, 2, "the old wait is gone");
  link.close();
});

Deno.test("close ends everything, even from inside the owner's callback", () => {
  const { link, clock, sockets, states } = linkOf();
  link.start();
  sockets.last.welcome();
  sockets.last.ends(1006);
  link.close();
  clock.advance(600_000);
  assert.equal(sockets.alive, 0);
  assert.equal(clock.pending, 0);
  assert.equal(states.at(-1)?.state, "closed");

  const inner = new FakeSockets();
  const closing: RelayLink = new RelayLink({
    wsUrl: "ws://relay.example/ws",
    apiKey: "k",
    hello: () => ({ role: "phone", name: "Phone", version: "0.1.0", capabilities: [] }),
    onFrame: () => {},
    onState: (state) => state.state === "waiting" && closing.close(),
    clock,
    createSocket: inner.create,
    fetch: () => assert.fail("a closed link asks nobody"),
  });
  closing.start();
  inner.last.ends(1006);
  assert.deepEqual([closing.state.state, inner.alive, clock.pending], ["closed", 0, 0]);
});
