/** The relay on a real port, with clients and strangers, on each runtime. */
import assert from "node:assert/strict";
import { systemClock } from "../../src/async/clock.ts";
import type { Scope } from "../../src/protocol/http.ts";
import {
  BINARY_FRAME_MAX_BYTES,
  REQUEST_MAX_BYTES,
  TEXT_FRAME_MAX_BYTES,
} from "../../src/protocol/limits.ts";
import { encodeBinaryFrame, PANE_FRAME } from "../../src/protocol/pane_frame.ts";
import { createKey } from "../../src/relay/api_keys.ts";
import { type RelayOptions, type RunningRelay, startRelay } from "../../src/relay/server.ts";
import { openStore } from "../../src/store/sqlite.ts";
import { FakeClock } from "../helpers/fake_clock.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { ask, keyProtocol, Peer, statusOverTls, Wire } from "./relay_peer.ts";

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const LISTENER = "dev_listener_0a1b2c3d";
const command = (n: number) => ({
  id: uuid(n),
  type: "agent.command",
  targetDeviceId: LISTENER,
  agentSessionName: "svc-p",
  body: `text ${n}`,
});

/** A running relay, which a case may stop and start again on the same store. */
class Bench {
  readonly dataDir: string;
  relay: RunningRelay | undefined;
  readonly logged: string[] = [];

  constructor(directory: string) {
    this.dataDir = `${directory}/data`;
  }

  async start(options: Partial<RelayOptions> = {}): Promise<RunningRelay> {
    const log = (line: string): void => void this.logged.push(line);
    this.relay = await startRelay({ listen: "127.0.0.1:0", dataDir: this.dataDir, log, ...options });
    return this.relay;
  }

  /** Creates a key as another process would. */
  async key(
    scopes: readonly Scope[] = ["push:send", "push:read", "admin"],
  ): Promise<{ id: string; key: string }> {
    const store = await openStore(this.dataDir);
    const created = await createKey(store, { name: "k", scopes });
    await store.close();
    return created;
  }
}

/** The body of a case; the relay is stopped afterwards. */
type Body = (bench: Bench) => Promise<void>;

const caseOf = ([name, body]: [string, Body]): Case => ({
  name,
  async run(_runtime, directory) {
    const bench = new Bench(directory);
    try {
      await body(bench);
    } finally {
      await bench.relay?.stop();
    }
  },
});

const DELIVERY: Record<string, Body> = {
  "an accepted push arrives at the listener and comes back as a receipt [flow-1, spec-fan-out, run-node]":
    async (bench) => {
      const { url, wsUrl } = await bench.start();
      const { key } = await bench.key();
      const listener = await Peer.listener(wsUrl, key);
      const phone = await Peer.greeted(wsUrl, { key, hello: {} });
      const sent = await ask(url, { method: "POST", path: "/pushes/send", key, body: command(1) });
      assert.deepEqual([sent.status, sent.json["state"]], [202, "queued"]);
      const push = await listener.first("push.new");
      assert.deepEqual([push.id, push.body], [uuid(1), "text 1"]);
      listener.send("push.ack", { id: push.id, outcome: "submitted", final: true });
      assert.equal((await phone.first("push.updated")).receipt.state, "submitted");
      await Promise.all([listener.leave(), phone.leave()]);
    },
  "an unacknowledged push is resent on the same socket [ev-push-resend]": async (bench) => {
    const clock = new FakeClock();
    const { url, wsUrl } = await bench.start({ clock });
    const { key } = await bench.key();
    const listener = await Peer.listener(wsUrl, key);
    await ask(url, { method: "POST", path: "/pushes/send", key, body: command(1) });
    await listener.first("push.new");
    clock.advance(6_000);
    await until("the push again", () => listener.received("push.new").length === 2);
    listener.send("push.ack", { id: uuid(1), outcome: "submitted", final: true });
    const path = `/pushes/${uuid(1)}`;
    const isFinal = async () => (await ask(url, { path, key })).json as { receipt?: { final: boolean } };
    await until("the end", async () => (await isFinal()).receipt?.final);
    await listener.leave();
  },
  "a restart keeps every push and delivers it to the listener that reconnects [ws-1012, http-202]": async (
    bench,
  ) => {
    const { url, wsUrl } = await bench.start();
    const { key } = await bench.key();
    const listener = await Peer.listener(wsUrl, key);
    await ask(url, { method: "POST", path: "/pushes/send", key, body: command(1) });
    await listener.first("push.new");
    const began = systemClock.elapsed();
    await bench.relay?.stop();
    assert.equal((await listener.end()).code, 1012);
    assert.ok(systemClock.elapsed() - began < 20_000);
    const again = await bench.start();
    const back = await Peer.listener(again.wsUrl, key);
    assert.equal((await back.first("push.new")).id, uuid(1));
    await back.leave();
  },
  "a hundred concurrent pushes arrive once each, in the order of acceptance": async (bench) => {
    // With a real clock, a late acknowledgement on a busy machine would cause a resend.
    const { url, wsUrl } = await bench.start({ clock: new FakeClock() });
    const { key } = await bench.key();
    const listener = await Peer.listener(wsUrl, key);
    const all = Array.from({ length: 100 }, (_, n) => n);
    await Promise.all(
      all.map((n) => ask(url, { method: "POST", path: "/pushes/send", key, body: command(n) })),
    );
    const acknowledge = (): void => {
      for (const { data } of listener.received("push.new")) {
        listener.send("push.ack", { id: data.id, outcome: "delivered", final: false });
      }
    };
    await until("the rest", () => {
      acknowledge();
      return listener.received("push.new").length >= 100;
    });
    const { pushes } = (await ask(url, { path: "/pushes?limit=200", key })).json as {
      pushes: { push: { id: string } }[];
    };
    assert.deepEqual(
      listener.received("push.new").map(({ data }) => data.id),
      pushes.map(({ push }) => push.id),
    );
    await listener.leave();
  },
};

const DOOR: Record<string, Body> = {
  "a stranger is refused with 401 and a problem before any upgrade, and the key is not echoed [ws-401, sec-stranger]":
    async (bench) => {
      const { wsUrl } = await bench.start();
      const wrong = `svc_${"z".repeat(43)}`;
      for (const options of [{}, { key: wrong }, { protocols: ["svc.v1", "svc.key.%%"] }]) {
        const peer = new Peer(wsUrl, options);
        const refused = await until("a refusal", () => peer.refused);
        assert.deepEqual([refused.status, refused.type], [401, "application/problem+json"]);
        assert.equal(JSON.parse(refused.body).code, "unauthenticated");
        assert.ok(!refused.body.includes("zzz"));
      }
    },
  "a key without push:read is 403 at the handshake; the subprotocol is svc.v1 [ws-scope, ws-subprotocol]":
    async (bench) => {
      const { wsUrl } = await bench.start();
      const peer = new Peer(wsUrl, { key: (await bench.key(["push:send"])).key });
      assert.equal((await until("a refusal", () => peer.refused)).status, 403);
      const { key } = await bench.key();
      const admitted = await Peer.greeted(wsUrl, { key, hello: {} });
      assert.equal(admitted.socket.protocol, "svc.v1");
      assert.equal(admitted.socket.extensions, "");
      await admitted.leave();
      const foreign = new Peer(wsUrl, { protocols: ["mqtt", keyProtocol(key)] });
      assert.equal((await until("a refusal", () => foreign.refused)).status, 400);
    },
  "frames over the limits close with 1009, fragmented or not [ws-size, dep-ws-caps]": async (bench) => {
    const { wsUrl } = await bench.start();
    const { key } = await bench.key();
    const open = () => Peer.greeted(wsUrl, { key, hello: {} });
    const text = await open();
    text.socket.send("x".repeat(TEXT_FRAME_MAX_BYTES + 1));
    assert.equal((await text.end()).code, 1009);
    const binary = await open();
    binary.socket.send(new Uint8Array(BINARY_FRAME_MAX_BYTES + 1));
    assert.equal((await binary.end()).code, 1009);
    const pieces = await open();
    const piece = new Uint8Array(BINARY_FRAME_MAX_BYTES / 4);
    for (let n = 0; n < 5; n++) pieces.socket.send(piece, { fin: n === 4 });
    assert.equal((await pieces.end()).code, 1009);
    const fits = await open();
    fits.socket.send(new Uint8Array(BINARY_FRAME_MAX_BYTES));
    fits.socket.send(
      JSON.stringify({
        event: "ping",
        id: "x".repeat(100),
        data: { pad: "x".repeat(TEXT_FRAME_MAX_BYTES - 200) },
      }),
    );
    await fits.first("pong");
    await fits.leave();
  },
  "a frame with objects that have a length in place of texts is ignored, for every field [ws-hostile-json]":
    async (bench) => {
      const { wsUrl } = await bench.start();
      const { key } = await bench.key();
      const stranger = new Peer(wsUrl, { key });
      await until("an open socket", () => stranger.socket.readyState === stranger.socket.OPEN);
      const length = { toString: 0, valueOf: 0 };
      stranger.socket.send(JSON.stringify({ event: "ping", id: { length }, data: {} }));
      const peer = await Peer.listener(wsUrl, key);
      const frames = [
        { event: "ping", id: { length }, data: {} },
        { event: "push.ack", data: { id: { length }, outcome: { length }, reason: { length } } },
        { event: "listener.sessions", id: "s", data: { sessions: { length } } },
        { event: "pane.open", data: { stream: { length }, target: { length } } },
        { event: { length }, re: { length } },
      ];
      for (const frame of frames) peer.socket.send(JSON.stringify(frame));
      peer.send("ping", {});
      await peer.first("pong");
      await peer.leave();
      stranger.socket.terminate();
    },
  "an unmasked frame ends only its own connection [dep-ws-caps]": async (bench) => {
    const { port, wsUrl } = await bench.start();
    const { key } = await bench.key();
    const other = await Peer.greeted(wsUrl, { key, hello: {} });
    const wire = await Wire.open(port);
    wire.write(
      "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-API-Key: ${key}\r\n\r\n`,
    );
    await until("101", () => wire.text.startsWith("HTTP/1.1 101"));
    wire.write("\x81\x02{}");
    await until("the end", () => wire.ended);
    other.send("ping", {});
    await other.first("pong");
    await other.leave();
  },
  "a body over the limit is 413, with or without a declared length [http-413]": async (bench) => {
    const { url, port } = await bench.start();
    const { key } = await bench.key();
    const body = JSON.stringify({ type: "note", body: "x".repeat(REQUEST_MAX_BYTES) });
    const told = await ask(url, { method: "POST", path: "/pushes/send", key, body });
    assert.deepEqual([told.status, told.json["code"]], [413, "too_large"]);
    const wire = await Wire.open(port);
    wire.write(
      `POST /pushes/send HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
    for (let n = 0; n < 5; n++) wire.write(chunk);
    await until("413", () => wire.text.startsWith("HTTP/1.1 413"));
    await wire.end();
  },
  "bytes that are not HTTP end only their own connection": async (bench) => {
    const { url, port } = await bench.start();
    const wire = await Wire.open(port);
    wire.write("\x16\x03\x01\x02\x00 junk\r\n\r\n");
    await until("the end", () => wire.ended);
    assert.equal((await ask(url, { path: "/healthz" })).status, 200);
    const absolute = await Wire.open(port);
    absolute.write("GET http://elsewhere/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await until("404", () => absolute.text.startsWith("HTTP/1.1 404"));
    await absolute.end();
  },
};

const LIFE: Record<string, Body> = {
  "a key revoked by another process closes its sockets and stops working within a second [sec-leaked-key, cli-keys]":
    async (bench) => {
      const { url, wsUrl } = await bench.start();
      const [lost, kept] = [await bench.key(), await bench.key()];
      const peers = [
        await Peer.greeted(wsUrl, { key: lost.key, hello: {} }),
        await Peer.greeted(wsUrl, { key: kept.key, hello: {} }),
      ];
      const store = await openStore(bench.dataDir);
      await store.revokeKey(lost.id, Date.now());
      await store.close();
      assert.equal((await ask(url, { path: "/sessions", key: lost.key })).status, 401);
      assert.equal((await peers[0]?.end())?.code, 4401);
      assert.equal((await ask(url, { path: "/sessions", key: kept.key })).status, 200);
      assert.equal(peers[1]?.closed, undefined);
      await peers[1]?.leave();
    },
  "a phone that does not read loses its mirror but stays connected, and the relay keeps serving the others [style-bounded, flood-panes]":
    async (
      bench,
    ) => {
      const { wsUrl } = await bench.start();
      const { key } = await bench.key();
      const listener = await Peer.listener(wsUrl, key);
      const [deaf, other] = [
        await Peer.greeted(wsUrl, { key, hello: {} }),
        await Peer.greeted(wsUrl, { key, hello: {} }),
      ];
      deaf.send("pane.open", { stream: 1, agentSessionName: "svc-p", deviceId: LISTENER });
      const { stream } = await listener.first("pane.open");
      deaf.socket.pause();
      const frame = encodeBinaryFrame({ kind: PANE_FRAME, stream, payload: new Uint8Array(1_000_000) });
      for (let n = 0; n < 40; n++) listener.socket.send(frame);
      assert.equal((await listener.first("pane.closed")).reason, "phone_behind");
      other.send("ping", {});
      await other.first("pong");
      deaf.socket.resume();
      assert.equal((await deaf.first("pane.closed")).reason, "phone_behind");
      await Promise.all([deaf.leave(), listener.leave(), other.leave()]);
    },
  "TRACE, which a web Request cannot have, is 405 with a problem [http-problem]": async (bench) => {
    const { port } = await bench.start();
    const wire = await Wire.open(port);
    wire.write("TRACE /pushes HTTP/1.1\r\nhost: x\r\n\r\n");
    await until("the answer", () => wire.ended);
    assert.match(wire.text, /^HTTP\/1\.1 405 /);
    assert.match(wire.text, /^allow: GET, HEAD, POST, PUT, DELETE\r$/im);
    assert.match(wire.text, /"code":"method_not_allowed"/);
    assert.deepEqual(bench.logged.filter((line) => line.startsWith("!")), []);
    await wire.end();
  },
  "clients named by a trusted proxy are limited individually, and names from others are ignored [flood-proxy]":
    async (bench) => {
      const guess = async (url: string, forwarded: string): Promise<number> => {
        const headers = { "content-type": "application/json", "x-forwarded-for": forwarded };
        const body = JSON.stringify({ name: "x" });
        const answer = await fetch(`${url}/pairings/guess/claim`, { method: "POST", headers, body });
        await answer.body?.cancel();
        return answer.status;
      };
      // With a real clock, a slow machine would be allowed further guesses in the meantime.
      const clock = new FakeClock();
      const trusting = await bench.start({ clock, trustedProxies: ["127.0.0.1"] });
      for (let n = 0; n < 12; n++) await guess(trusting.url, "203.0.113.1, 192.0.2.1");
      assert.equal(await guess(trusting.url, "203.0.113.9, 192.0.2.1"), 429);
      assert.equal(await guess(trusting.url, "192.0.2.1, 192.0.2.2"), 404);
      // Some proxies add the caller's port, which is another one for each connection.
      assert.equal(await guess(trusting.url, "192.0.2.1:40001"), 429);
      for (let n = 0; n < 12; n++) await guess(trusting.url, `[2001:db8::1]:${40_000 + n}`);
      assert.equal(await guess(trusting.url, "2001:db8::1"), 429);
      await bench.relay?.stop();
      const other = await bench.start({ clock });
      for (let n = 0; n < 12; n++) await guess(other.url, "192.0.2.1");
      assert.equal(await guess(other.url, "192.0.2.2"), 429);
    },
  "a revoked device's socket is closed at once [http-revoke]": async (bench) => {
    const { url, wsUrl } = await bench.start();
    const { key } = await bench.key();
    const listener = await Peer.listener(wsUrl, key);
    const answer = await ask(url, { method: "DELETE", path: `/devices/${LISTENER}`, key });
    assert.equal(answer.status, 204);
    assert.equal((await listener.end()).code, 4401);
  },
  "a second connection of a listener replaces the first with 4409": async (bench) => {
    const { wsUrl } = await bench.start();
    const { key } = await bench.key();
    const first = await Peer.listener(wsUrl, key);
    const second = await Peer.listener(wsUrl, key);
    assert.equal((await first.end()).code, 4409);
    await second.leave();
  },
  "an address that this machine does not have is reported as that [rl-options]": async (bench) => {
    // Deno says EINVAL, Node EADDRNOTAVAIL.
    const absent = startRelay({ listen: "192.0.2.1:7420", dataDir: bench.dataDir });
    await assert.rejects(absent, /on "192\.0\.2\.1:7420": this machine does not have this/);
  },
  "no client delays a stop, and an address in use is reported [rl-options]": async (bench) => {
    const { port } = await bench.start();
    const wire = await Wire.open(port);
    wire.write("POST /pushes/send HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
    const again = startRelay({ listen: `127.0.0.1:${port}`, dataDir: `${bench.dataDir}2` });
    await assert.rejects(again, /Cannot listen on .* in use/);
    await assert.rejects(
      startRelay({ listen: "127.0.0.1:0", dataDir: bench.dataDir }),
      /another relay is running on it/,
    );
    const began = systemClock.elapsed();
    await bench.relay?.stop();
    assert.ok(systemClock.elapsed() - began < 20_000);
    await wire.end();
  },
};

const TLS: readonly Case[] = [{
  name: "with a certificate it speaks https and wss [up-tls, rl-options]",
  async run({ files, cwd }, directory) {
    const bench = new Bench(directory);
    const pem = async (end: string): Promise<string> =>
      await files.readText(`${cwd()}/tests/testdata/tls/localhost.${end}`) ?? "";
    try {
      const { url, wsUrl } = await bench.start({ tls: { cert: await pem("crt"), key: await pem("key") } });
      assert.deepEqual([url.slice(0, 8), wsUrl.slice(0, 6)], ["https://", "wss://"]);
      assert.equal(await statusOverTls(`${url}/healthz`), 200);
      const peer = await Peer.greeted(wsUrl, { key: (await bench.key()).key, hello: {} });
      await peer.leave();
      const refused = new Peer(wsUrl, {});
      assert.equal((await until("a refusal", () => refused.refused)).status, 401);
    } finally {
      await bench.relay?.stop();
    }
  },
}];

export const cases: readonly Case[] = [
  ...Object.entries({ ...DELIVERY, ...DOOR, ...LIFE }).map(caseOf),
  ...TLS,
];
