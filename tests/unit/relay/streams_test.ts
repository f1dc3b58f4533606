/** Mirrors through the relay: every phone reaches only its own streams. */
import assert from "node:assert/strict";
import {
  decodeBinaryFrame,
  encodeBinaryFrame,
  KEY_FRAME,
  PANE_FRAME,
} from "../../../src/protocol/pane_frame.ts";
import { STREAMS_PER_KEY } from "../../../src/protocol/limits.ts";
import { UNREAD_MAX_BYTES } from "../../../src/relay/connection.ts";
import { STRAY_FRAMES, STREAMS_PER_PHONE } from "../../../src/relay/streams.ts";
import { type FakeClient, Fixture, sessionNamed } from "./fixture.ts";

const OPEN = { stream: 1, agentSessionName: "svc-p" };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Makes a listener with the session, and two phones that use the same stream numbers. */
async function makeMirror(relay: Fixture) {
  const listener = await relay.listener();
  await listener.send("listener.sessions", { sequence: 1, sessions: [sessionNamed("svc-p")] });
  const [one, two] = [await relay.connect(await relay.key()), await relay.connect(await relay.key())];
  return { listener, one, two };
}

function sendBytes(
  client: FakeClient,
  { kind, stream, payload }: { kind: number; stream: number; payload: string },
): void {
  client.socket.handlers?.bytes(
    encodeBinaryFrame({ kind, stream, payload: new TextEncoder().encode(payload) }),
  );
}

function bytesOf({ socket }: FakeClient): [number, number, string][] {
  const frames = socket.sent.filter((data) => typeof data !== "string").map(decodeBinaryFrame);
  return frames.map((
    frame,
  ) => [frame?.kind ?? 0, frame?.stream ?? 0, text(frame?.payload ?? new Uint8Array())]);
}

const streamsAt = (listener: FakeClient): number[] =>
  listener.received("pane.open").map(({ data }) => data.stream);
const strays = (relay: Fixture): string => relay.metrics.of(STRAY_FRAMES).render().at(-1) ?? "";

Deno.test("a phone's mirror works in both directions under its own number [bin-route, ev-pane-open, ev-pane-credit]", async () => {
  await using relay = await Fixture.make();
  const { listener, one, two } = await makeMirror(relay);
  await one.send("pane.open", { ...OPEN, cols: 80, rows: 24, publicKey: "pk" });
  await two.send("pane.open", OPEN);
  const [first = 0, second = 0] = streamsAt(listener);
  assert.notEqual(first, second);
  assert.equal(listener.received("pane.open")[0]?.data.publicKey, "pk");
  await listener.send("pane.opened", { stream: second, cols: 100, rows: 30 });
  assert.deepEqual(two.received("pane.opened")[0]?.data, { stream: 1, cols: 100, rows: 30 });
  assert.deepEqual(one.received("pane.opened"), []);
  sendBytes(listener, { kind: PANE_FRAME, stream: first, payload: "for one" });
  sendBytes(two, { kind: KEY_FRAME, stream: 1, payload: "from two" });
  await one.send("pane.credit", { stream: 1, bytes: 500 });
  await one.send("pane.scrollback", { stream: 1, lines: 100 });
  assert.deepEqual([bytesOf(one), bytesOf(two)], [[[PANE_FRAME, 1, "for one"]], []]);
  assert.deepEqual(bytesOf(listener), [[KEY_FRAME, second, "from two"]]);
  assert.deepEqual(listener.received("pane.credit").map(({ data }) => data), [{ stream: first, bytes: 500 }]);
  assert.deepEqual(listener.received("pane.scrollback").map(({ data }) => data), [{
    stream: first,
    lines: 100,
  }]);
  const phones = [one, two].map((phone) => phone.received("welcome")[0]?.data.deviceId);
  assert.deepEqual(
    listener.received("pane.open").map(({ data }) => data.sender),
    phones,
    "the phone that is watching",
  );
});

Deno.test("a frame with a number that is not the sender's is dropped and counted [bin-route]", async () => {
  await using relay = await Fixture.make();
  const { listener, one, two } = await makeMirror(relay);
  const other = await relay.listener("dev_listener_other");
  await one.send("pane.open", OPEN);
  const [given = 0] = streamsAt(listener);
  for (const stream of [given, given + 1, 77]) {
    sendBytes(two, { kind: KEY_FRAME, stream, payload: "x" });
    sendBytes(other, { kind: PANE_FRAME, stream, payload: "x" });
  }
  await two.send("pane.credit", { stream: 1, bytes: 1 });
  await two.send("pane.closed", { stream: 1, reason: "x" });
  await other.send("pane.closed", { stream: given, reason: "x" });
  await other.send("pane.opened", { stream: given, cols: 1, rows: 1 });
  sendBytes(one, { kind: PANE_FRAME, stream: 1, payload: "a phone sends no pane frames" });
  sendBytes(listener, { kind: KEY_FRAME, stream: given, payload: "a listener no keys" });
  assert.deepEqual([bytesOf(listener), bytesOf(one), one.received("pane.closed")], [[], [], []]);
  assert.equal(strays(relay), "svc_stray_frames_total 12");
});

Deno.test("a read-only key cannot type [sec-leaked-key]", async () => {
  await using relay = await Fixture.make();
  const { listener } = await makeMirror(relay);
  const reader = await relay.connect(await relay.key(["push:read"]));
  await reader.send("pane.open", OPEN);
  sendBytes(reader, { kind: KEY_FRAME, stream: 1, payload: "x" });
  sendBytes(listener, { kind: PANE_FRAME, stream: streamsAt(listener)[0] ?? 0, payload: "seen" });
  assert.deepEqual([bytesOf(listener), bytesOf(reader).length], [[], 1]);
});

Deno.test("either side can end a mirror, and the other side gets the reason [ev-pane-closed]", async () => {
  await using relay = await Fixture.make();
  const { listener, one, two } = await makeMirror(relay);
  await one.send("pane.open", OPEN);
  await two.send("pane.open", OPEN);
  await two.send("pane.open", { ...OPEN, stream: 2 });
  const [first, second, third] = streamsAt(listener);
  one.leave();
  await two.send("pane.closed", { stream: 1, reason: "done" });
  const told = listener.received("pane.closed").map(({ data }) => [data.stream, data.reason]);
  assert.deepEqual(told, [[first, "phone_gone"], [second, "done"]]);
  assert.notEqual(third, undefined);
  listener.leave();
  await relay.settle();
  assert.deepEqual(two.received("pane.closed").map(({ data }) => data), [{
    stream: 2,
    reason: "listener_gone",
  }]);
  sendBytes(two, { kind: KEY_FRAME, stream: 2, payload: "x" });
  assert.equal(strays(relay), "svc_stray_frames_total 1");
});

Deno.test("a session that cannot be mirrored, or that is in another account, is closed with the reason [rl-accounts, ev-pane-closed]", async () => {
  await using relay = await Fixture.make();
  const { listener, one } = await makeMirror(relay);
  const two = await relay.listener("dev_listener_two");
  await two.send("listener.sessions", { sequence: 1, sessions: [sessionNamed("svc-both")] });
  await listener.send("listener.sessions", {
    sequence: 2,
    sessions: [sessionNamed("svc-p"), sessionNamed("svc-both")],
  });
  const stranger = await relay.connect(await relay.key(["push:send", "push:read"], { account: "other" }));
  await one.send("pane.open", { stream: 1, agentSessionName: "svc-none" });
  await one.send("pane.open", { stream: 2, agentSessionName: "svc-both" });
  await one.send("pane.open", { stream: 3, agentSessionName: "svc-both", deviceId: "dev_listener_two" });
  await one.send("pane.open", { stream: 4, agentSessionName: "svc-p", deviceId: "dev_listener_gone" });
  await stranger.send("pane.open", { stream: 1, agentSessionName: "svc-p" });
  await stranger.send("pane.open", {
    stream: 2,
    agentSessionName: "svc-p",
    deviceId: "dev_listener_0a1b2c3d",
  });
  const reasons = (client: FakeClient) =>
    client.received("pane.closed").map(({ data }) => [data.stream, data.reason]);
  assert.deepEqual(reasons(one), [[1, "no_such_session"], [2, "ambiguous_session"], [4, "listener_offline"]]);
  assert.deepEqual(reasons(stranger), [[1, "no_such_session"], [2, "listener_offline"]]);
  assert.deepEqual([streamsAt(two).length, streamsAt(listener).length], [1, 0]);
});

Deno.test("reopening a number starts over, and the number of mirrors is bounded", async () => {
  await using relay = await Fixture.make();
  const { listener, one } = await makeMirror(relay);
  await one.send("pane.open", OPEN);
  await one.send("pane.open", OPEN);
  const [first, second] = streamsAt(listener);
  assert.deepEqual(listener.received("pane.closed").map(({ data }) => data), [{
    stream: first,
    reason: "reopened",
  }]);
  sendBytes(one, { kind: KEY_FRAME, stream: 1, payload: "x" });
  assert.deepEqual(bytesOf(listener), [[KEY_FRAME, second, "x"]]);
  for (let stream = 2; stream <= STREAMS_PER_PHONE + 1; stream++) {
    await one.send("pane.open", { ...OPEN, stream });
  }
  const { data } = one.received("pane.closed")[0] ?? {};
  assert.deepEqual(data, { stream: STREAMS_PER_PHONE + 1, reason: "too_many_streams" });
});

Deno.test("a mirror closed while its listener is being found is not opened", async () => {
  await using relay = await Fixture.make();
  const { listener, one } = await makeMirror(relay);
  const open = one.send("pane.open", OPEN);
  one.socket.handlers?.text('{"event":"pane.closed","data":{"stream":1,"reason":"changed my mind"}}');
  await open;
  assert.deepEqual(streamsAt(listener), []);
});

Deno.test("the mirrors of one key are limited over all its sockets, and another key can still open one [flood-streams]", async () => {
  await using relay = await Fixture.make();
  const { listener, two } = await makeMirror(relay);
  const key = await relay.key(["push:read"]);
  for (let sockets = 0; sockets < STREAMS_PER_KEY / STREAMS_PER_PHONE + 1; sockets++) {
    const phone = await relay.connect(key);
    for (let stream = 1; stream <= STREAMS_PER_PHONE; stream++) {
      relay.clock.advance(100);
      await phone.send("pane.open", { ...OPEN, stream });
    }
  }
  assert.equal(streamsAt(listener).length, STREAMS_PER_KEY);
  await two.send("pane.open", OPEN);
  assert.equal(streamsAt(listener).length, STREAMS_PER_KEY + 1);
});

Deno.test("a phone's control frames never close a listener that reads slowly [flood-keys]", async () => {
  await using relay = await Fixture.make();
  const { listener, one } = await makeMirror(relay);
  await one.send("pane.open", OPEN);
  listener.socket.unread = UNREAD_MAX_BYTES + 1;
  await one.send("pane.credit", { stream: 1, bytes: 500 });
  await one.send("pane.scrollback", { stream: 1, lines: 100 });
  await one.send("pane.open", { ...OPEN, stream: 2 });
  assert.equal(listener.socket.closedWith, undefined);
  assert.deepEqual(one.received("pane.closed").map(({ data }) => data), [
    { stream: 2, reason: "listener_behind" },
  ]);
});

Deno.test("a listener that sends more than a phone reads loses the stream, and the phone stays connected [flood-panes]", async () => {
  await using relay = await Fixture.make();
  const { listener, one } = await makeMirror(relay);
  await one.send("pane.open", OPEN);
  const [stream = 0] = streamsAt(listener);
  one.socket.unread = UNREAD_MAX_BYTES;
  sendBytes(listener, { kind: PANE_FRAME, stream, payload: "x" });
  one.socket.unread = 0;
  assert.deepEqual([one.socket.closedWith, listener.socket.closedWith], [undefined, undefined]);
  const end = { reason: "phone_behind" };
  assert.deepEqual(one.received("pane.closed").map(({ data }) => data), [{ stream: 1, ...end }]);
  assert.deepEqual(listener.received("pane.closed").map(({ data }) => data), [{ stream, ...end }]);
  sendBytes(listener, { kind: PANE_FRAME, stream, payload: "x" });
  assert.deepEqual(bytesOf(one), []);
});
