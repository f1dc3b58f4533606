/** What every runtime reports about its process and machine, and its local sockets. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import { systemClock } from "../../src/async/clock.ts";
import { loadVapidKeys, postOnce } from "../../src/relay/web_push_delivery.ts";
import { crc32Hex } from "../../src/runtime/digest.ts";
import { postPublicly } from "../../src/runtime/public_post.ts";
import { tlsFault } from "../../src/runtime/tls_files.ts";
import { MAX_LINE_BYTES } from "../../src/runtime/input.ts";
import type { LineConnection, Runtime } from "../../src/runtime/types.ts";
import type { Case } from "../helpers/on_node.ts";
import { makeSubscriber, openMessage } from "../helpers/push_vendor.ts";
import { until } from "../helpers/until.ts";

const certificates: Case[] = [
  {
    name: "an unusable certificate or key is recognized, and so is a pair that does not match [rl-options]",
    async run({ files, cwd }) {
      const pem = async (end: string): Promise<string> =>
        await files.readText(`${cwd()}/tests/testdata/tls/localhost.${end}`) ?? "";
      const [cert, key, other] = [await pem("crt"), await pem("key"), await newKeyPem()];
      assert.equal(tlsFault({ cert, key }), undefined);
      const both = `${key}\n${cert}`;
      assert.equal(tlsFault({ cert: both, key: both }), undefined, "in one file");
      assert.equal(tlsFault({ cert, key: other }), "pair");
      const damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
      for (const text of ["", "junk", key, damaged]) {
        assert.equal(tlsFault({ cert: text, key }), "certificate");
      }
      for (const text of ["", "junk", cert, damaged]) assert.equal(tlsFault({ cert, key: text }), "key");
    },
  },
];

async function newKeyPem(): Promise<string> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const { privateKey } = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const base64 = Buffer.from(await crypto.subtle.exportKey("pkcs8", privateKey)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${base64.replace(/.{64}/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
}

const posts: Case[] = [
  {
    name:
      "a Web Push message is posted and opens as RFC 8291 says; addresses that are not public are refused [push-vapid, push-ssrf]",
    async run() {
      const received: Uint8Array[] = [];
      const server = createServer((request, response) => {
        const parts: Uint8Array[] = [];
        request.on("data", (part: Uint8Array) => parts.push(part));
        request.on("end", () => {
          received.push(new Uint8Array(parts.flatMap((part) => [...part])));
          response.writeHead(429, { "retry-after": "7" }).end();
        });
      });
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      const address = server.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const subscriber = await makeSubscriber(`http://127.0.0.1:${port}/x`);
      const keys = await loadVapidKeys({ keepSecret: (_name, made) => Promise.resolve(made) });
      const payload = { kind: "test", id: "6f1c2d3e-0000-4000-8000-000000000001" } as const;
      const message = { payload, ttlSeconds: 60, urgency: "high", group: "t" } as const;
      const { signal } = new AbortController();
      const delivery = {
        keys,
        contact: "mailto:a@example.com",
        clock: systemClock,
        signal,
        post: postPublicly,
      };
      const send = (allowLoopback: boolean) =>
        postOnce({ subscription: subscriber.subscription, message }, { ...delivery, allowLoopback });
      await assert.rejects(send(true), /answered 429/);
      assert.deepEqual(await openMessage(received[0] ?? new Uint8Array(), subscriber), payload);
      assert.equal((await send(false)).kind, "dead");
      assert.equal(received.length, 1);
      await new Promise((done) => server.close(done));
    },
  },
];

const host: Case[] = [
  {
    name: "reports its process and machine",
    async run(runtime) {
      const shell = async (script: string): Promise<string> =>
        new TextDecoder().decode((await runtime.commands.run(["sh", "-c", script])).stdout).trim();
      assert.match(runtime.version, /^\d+\.\d+\.\d+/);
      assert.equal(`${runtime.uid}`, await shell("id -u"));
      assert.equal(`${runtime.pid}`, await shell("echo $PPID"));
      assert.equal(runtime.hostname(), await shell("uname -n"));
      assert.equal(runtime.cwd(), await shell("pwd -P"));
      assert.equal(runtime.homeDirectory(), runtime.env.get("HOME"));
      assert.ok(runtime.memoryBytes() > 10_000_000);
    },
  },
  {
    name: "reads the environment",
    run({ env }) {
      assert.equal(env.get("SVC_NO_SUCH_VARIABLE"), undefined);
      assert.ok(env.get("PATH"));
      assert.equal(env.all().PATH, env.get("PATH"));
      assert.ok(Object.values(env.all()).every((value) => typeof value === "string"));
    },
  },
  {
    name: "a signal reaches its handlers until they are removed",
    async run({ onSignal, commands, pid }) {
      const seen: string[] = [];
      const offFirst = onSignal("SIGHUP", () => void seen.push("first"));
      const offSecond = onSignal("SIGHUP", () => void seen.push("second"));
      commands.kill(pid, "SIGHUP");
      await until("both handlers", () => seen.length === 2);
      offFirst();
      commands.kill(pid, "SIGHUP");
      await until("the handler left", () => seen.length === 3);
      offSecond();
      assert.deepEqual(seen, ["first", "second", "second"]);
    },
  },
];

type Server = { close(): void };

function echo({ sockets }: Runtime, path: string): Promise<Server> {
  return sockets.listen(path, async (connection) => {
    for await (const line of connection.lines) await connection.send(`echo ${line}`);
  });
}

async function connected({ sockets }: Runtime, path: string): Promise<LineConnection> {
  return await sockets.connect(path) ?? assert.fail(`nobody listens at ${path}`);
}

async function take(lines: AsyncIterable<string>, count: number): Promise<string[]> {
  const taken: string[] = [];
  for await (const line of lines) if (taken.push(line) === count) break;
  return taken;
}

const sockets: Case[] = [
  {
    name: "lines go both ways, whole and in order, from several peers",
    async run(runtime, directory) {
      const server = await echo(runtime, `${directory}/sock`);
      const big = "é".repeat(200_000);
      const sent = ["one", "", big, "{}"];
      await Promise.all([1, 2, 3].map(async () => {
        const peer = await connected(runtime, `${directory}/sock`);
        const [, got] = await Promise.all([
          Promise.all(sent.map((line) => peer.send(line))),
          take(peer.lines, sent.length),
        ]);
        assert.deepEqual(got, sent.map((line) => `echo ${line}`));
      }));
      server.close();
    },
  },
  {
    name: "the socket is private, and shows as a socket",
    async run(runtime, directory) {
      const server = await echo(runtime, `${directory}/sock`);
      const info = await runtime.files.info(`${directory}/sock`);
      assert.deepEqual([info?.isSocket, info?.isFile, info?.mode], [true, false, 0o600]);
      server.close();
    },
  },
  {
    name:
      "connecting without a listening program returns undefined: no path, a stale socket, a closed server",
    async run(runtime, directory) {
      const path = `${directory}/sock`;
      assert.equal(await runtime.sockets.connect(path), undefined);
      const server = await echo(runtime, path);
      await runtime.commands.run(["ln", path, `${directory}/stale`]);
      server.close();
      assert.equal(await runtime.sockets.connect(path), undefined);
      assert.equal(await runtime.sockets.connect(`${directory}/stale`), undefined);
      assert.equal(await runtime.files.info(path), undefined);
    },
  },
  {
    name: "a socket in a folder of another user is not connected to",
    async run(runtime, directory) {
      const folder = `${directory}/theirs`;
      await runtime.files.makeDirectory(folder, { mode: 0o755 });
      const server = await echo(runtime, `${folder}/sock`);
      (await runtime.sockets.connect(`${folder}/sock`))?.close();
      const given = await runtime.commands.run(["chown", "12345", folder]);
      // Only root can change a folder's owner.
      if (given.code === 0) assert.equal(await runtime.sockets.connect(`${folder}/sock`), undefined);
      server.close();
    },
  },
  {
    name: "an existing path is not replaced",
    async run(runtime, directory) {
      const server = await echo(runtime, `${directory}/sock`);
      await assert.rejects(echo(runtime, `${directory}/sock`), { code: "EADDRINUSE" });
      server.close();
      await runtime.files.writeText(`${directory}/file`, "kept");
      await assert.rejects(echo(runtime, `${directory}/file`), { code: "EADDRINUSE" });
      assert.equal(await runtime.files.readText(`${directory}/file`), "kept");
    },
  },
  {
    name: "folders created while a socket is bound keep their owner's permissions",
    async run(runtime, directory) {
      const { files } = runtime;
      for (let round = 0; round < 50; round++) {
        const folders = Array.from({ length: 8 }, (_, at) => `${directory}/${round}-${at}`);
        const making = folders.map((folder) => files.makeDirectory(folder, { mode: 0o700 }));
        const server = await echo(runtime, `${directory}/sock${round}`);
        await Promise.all(making);
        const modes = await Promise.all(folders.map(async (folder) => (await files.info(folder))?.mode));
        server.close();
        assert.deepEqual(modes.map((mode = 0) => mode & 0o777), folders.map(() => 0o700));
      }
    },
  },
  {
    name: "a path longer than the system allows is refused with the reason",
    async run(runtime, directory) {
      const path = `${directory}/${"x".repeat(100)}`;
      await assert.rejects(echo(runtime, path), /at most 103; choose a shorter SVC_HOME/);
      await assert.rejects(runtime.sockets.connect(path), /at most 103/);
    },
  },
  {
    name: "a line over the limit ends the connection, for the peer too",
    async run(runtime, directory) {
      const lines: string[] = [];
      const ended = Promise.withResolvers<void>();
      const server = await runtime.sockets.listen(`${directory}/sock`, async (connection) => {
        for await (const line of connection.lines) lines.push(line);
        ended.resolve();
      });
      const peer = await connected(runtime, `${directory}/sock`);
      await peer.send("short");
      const flood = peer.send("x".repeat(MAX_LINE_BYTES + 1)).catch(() => {});
      await ended.promise;
      assert.deepEqual(lines, ["short"]);
      assert.deepEqual(await take(peer.lines, 1), []);
      await flood;
      server.close();
    },
  },
  {
    name: "closing the server ends its connections",
    async run(runtime, directory) {
      const server = await echo(runtime, `${directory}/sock`);
      const peer = await connected(runtime, `${directory}/sock`);
      await peer.send("one");
      assert.deepEqual(await peer.lines[Symbol.asyncIterator]().next(), { done: false, value: "echo one" });
      server.close();
      assert.deepEqual(await take(peer.lines, 1), []);
      peer.close();
      await assert.rejects(peer.send("late"));
    },
  },
  {
    name: "closing ends this side's loop while it waits for a line",
    async run(runtime, directory) {
      const server = await echo(runtime, `${directory}/sock`);
      const peer = await connected(runtime, `${directory}/sock`);
      const reading = take(peer.lines, 1);
      peer.close();
      assert.deepEqual(await reading, []);
      server.close();
    },
  },
];

const digests: Case[] = [
  {
    name: "the CRC-32 has the check values of ISO 3309 [inj-journal]",
    run: () => {
      assert.equal(crc32Hex("123456789"), "cbf43926");
      assert.equal(crc32Hex(""), "00000000");
      assert.equal(crc32Hex("\u00fc"), "63d969d5");
      return Promise.resolve();
    },
  },
];

export const cases: readonly Case[] = [...host, ...digests, ...certificates, ...posts, ...sockets];
