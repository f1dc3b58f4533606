/** The HTTP server's limits on time, connections and unread bytes. */
import assert from "node:assert/strict";
import process from "node:process";
import {
  type HttpServer,
  type HttpServerLimits,
  type HttpServerOptions,
  serveHttp,
} from "../../src/runtime/http_server.ts";
import { PIPELINED_MAX } from "../../src/runtime/plain_connections.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { Wire } from "./relay_peer.ts";

const LIMITS: HttpServerLimits = {
  bodyBytes: 1_000,
  textFrameBytes: 1_000,
  binaryFrameBytes: 1_000,
  headerBytes: 4_096,
  headersMs: 60_000,
  requestMs: 60_000,
  keepAliveMs: 60_000,
  plainConnections: 8,
  connectionsPerAddress: 100,
  unsentBytesPerAddress: 1_000_000,
};

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const DECLINES_UPGRADES = "Deno" in globalThis || (major === 22 ? minor >= 21 : major > 24 || minor >= 9);

async function withServer(
  options: Partial<HttpServerOptions>,
  body: (server: HttpServer) => Promise<void>,
): Promise<void> {
  const server = await serveHttp({
    hostname: "127.0.0.1",
    port: 0,
    limits: LIMITS,
    subprotocol: "svc.v1",
    fetch: async (request) => new Response(`${new URL(request.url).pathname} ${await request.text()}`),
    upgrade: () => Promise.resolve(new Response("no", { status: 401 })),
    tooLarge: (what) => new Response(`too large ${what}`, { status: 413 }),
    forbiddenMethod: () => new Response("no such method", { status: 405 }),
    failed: () => new Response("failed", { status: 500 }),
    ...options,
  });
  try {
    await body(server);
  } finally {
    await server.stop(0);
  }
}

const request = (path: string, rest = ""): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${rest}\r\n`;

export const cases: readonly Case[] = [
  {
    name: "a client that sends headers or body too slowly is disconnected",
    run: () =>
      withServer({ limits: { ...LIMITS, headersMs: 1_000, requestMs: 1_500 } }, async ({ port }) => {
        const wires = await Promise.all([1, 2, 3].map(() => Wire.open(port)));
        const [silent, headers, body] = wires;
        headers?.write("GET / HTTP/1.1\r\nHost: x\r\n");
        body?.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nabc");
        await until("the end of all", () => wires.every((wire) => wire.ended));
        assert.equal(silent?.text, "");
      }),
  },
  {
    name: "strangers that hold connections open do not lock others out",
    run: () =>
      withServer({}, async ({ port }) => {
        const idle: Wire[] = [];
        for (let n = 0; n < 20; n++) {
          const wire = await Wire.open(port);
          if (n % 2 === 0) wire.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nabc");
          idle.push(wire);
        }
        const honest = await Wire.open(port);
        honest.write(request("/hello"));
        await until("an answer", () => honest.text.includes("/hello"));
        await until("the older ones' end", () => idle.filter((wire) => wire.ended).length === 13);
        await Promise.all([...idle, honest].map((wire) => wire.end()));
      }),
  },
  {
    name: "a WebSocket does not count as such a connection: strangers cannot evict it",
    async run() {
      const heard: string[] = [];
      const ends: (() => void)[] = [];
      const upgrade: HttpServerOptions["upgrade"] = () =>
        Promise.resolve((socket) => {
          ends.push(() => socket.terminate());
          return {
            text: (text) => void heard.push(text),
            bytes: () => undefined,
            alive: () => undefined,
            closed: () => void heard.push("closed"),
          };
        });
      await withServer({ upgrade }, async ({ port }) => {
        const socket = await Wire.open(port);
        socket.write(
          "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        );
        await until("101", () => socket.text.startsWith("HTTP/1.1 101"));
        const strangers: Wire[] = [];
        for (let n = 0; n < 12; n++) strangers.push(await Wire.open(port));
        await until("some strangers' end", () => strangers.filter((wire) => wire.ended).length === 4);
        socket.socket.write(Uint8Array.of(0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69));
        await until("the frame", () => heard.length > 0);
        assert.deepEqual(heard, ["hi"]);
        for (const end of ends) end();
        await Promise.all([...strangers, socket].map((wire) => wire.end()));
      });
    },
  },
  {
    name: "a client that sends a body that is too long gets its answer and can send all of it, as nginx does",
    async run() {
      const early = { status: 413, headers: {}, body: "too large body" };
      const body = "x".repeat(4_000_000);
      const forms = [
        `Content-Length: ${body.length}\r\n\r\n${body}`,
        `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ];
      for (const options of [{}, { admit: () => early }]) {
        await withServer(options, async ({ port }) => {
          for (const form of forms) {
            const wire = await Wire.open(port);
            const errors: Error[] = [];
            wire.socket.on("error", (error) => void errors.push(error));
            wire.write(`POST / HTTP/1.1\r\nHost: x\r\n${form}`);
            await until("its end", () => wire.ended);
            assert.deepEqual(errors, [], form.slice(0, 30));
            assert.match(wire.text, /^HTTP\/1\.1 413 [^]*too large body$/);
          }
        });
      }
    },
  },
  {
    name: "headers that are too long are answered, and the connection ends",
    run: () =>
      withServer({}, async ({ port }) => {
        const wire = await Wire.open(port);
        wire.write(request("/first"));
        await until("an answer", () => wire.text.includes("/first"));
        wire.write(request("/", `Cookie: ${"a".repeat(LIMITS.headerBytes)}\r\n`));
        await until("its end", () => wire.ended);
        assert.match(wire.text, /HTTP\/1\.1 413 [^]*too large headers$/);
        const other = await Wire.open(port);
        other.write("no HTTP\r\n\r\n");
        await until("the end of another", () => other.ended);
        assert.equal(other.text, "");
      }),
  },
  {
    name: "a request that offers an upgrade to another protocol is answered like any other",
    run: () =>
      withServer({}, async ({ port }) => {
        const wire = await Wire.open(port);
        const offer =
          "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAA\r\n";
        wire.write(request("/read", offer));
        if (!DECLINES_UPGRADES) {
          await until("a refusal that helps", () => /^HTTP\/1\.1 400 [^]*Node 22\.21/.test(wire.text));
          return await wire.end();
        }
        await until("an answer", () => wire.text.includes("/read"));
        wire.write(`POST /sent HTTP/1.1\r\nHost: x\r\n${offer}Content-Length: 4\r\n\r\nbody`);
        await until("an answer to a body", () => wire.text.includes("/sent body"));
        await wire.end();
      }),
  },
  {
    name: "a request begins when its body has arrived, and is answered when its answer may be sent",
    async run() {
      const gate = Promise.withResolvers<void>();
      const seen: string[] = [];
      const options: Partial<HttpServerOptions> = {
        admit: () => ({
          begin() {
            seen.push("begun");
            return () => void seen.push("answered");
          },
        }),
        fetch: async () => {
          seen.push("asked");
          await gate.promise;
          return new Response("done");
        },
      };
      await withServer(options, async ({ port }) => {
        const wire = await Wire.open(port);
        wire.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na");
        const other = await Wire.open(port);
        other.write(request("/other"));
        await until("the other request", () => seen.length === 2);
        wire.write("b");
        await until("both requests", () => seen.length === 4);
        assert.deepEqual(seen, ["begun", "asked", "begun", "asked"]);
        gate.resolve();
        await until("both answers", () => [wire, other].every(({ text }) => text.includes("done")));
        await until("both ends", () => seen.slice(4).length >= 4);
        assert.ok(seen.slice(4).every((what) => what === "answered"));
        await Promise.all([wire.end(), other.end()]);
      });
    },
  },
  {
    name: "a request may still be refused once its body has arrived, and its connection stays open",
    run: () => {
      const refusal = { status: 503, headers: { "retry-after": "1" }, body: "not now" };
      const options: Partial<HttpServerOptions> = {
        admit: ({ url }) => ({ begin: () => url === "/full" ? Promise.resolve(refusal) : () => undefined }),
      };
      return withServer(options, async ({ port }) => {
        const wire = await Wire.open(port);
        wire.write("POST /full HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
        await until("the refusal", () => wire.text.includes("not now"));
        assert.match(wire.text, /^HTTP\/1\.1 503 .*\r\n(.*\r\n)*retry-after: 1\r\n/i);
        wire.write(request("/hello"));
        await until("an answer", () => wire.text.includes("/hello"));
        await wire.end();
      });
    },
  },
  {
    name: "a request in progress is not dropped for a new connection",
    async run() {
      const gate = Promise.withResolvers<void>();
      let asked = false;
      const options = {
        limits: { ...LIMITS, plainConnections: 1 },
        fetch: async (): Promise<Response> => {
          asked = true;
          await gate.promise;
          return new Response("done");
        },
      };
      await withServer(options, async ({ port }) => {
        const first = await Wire.open(port);
        first.write(request("/slow"));
        await until("a request", () => asked);
        const second = await Wire.open(port);
        await until("the newcomer's end", () => second.ended);
        gate.resolve();
        await until("the answer", () => first.text.includes("done"));
        await Promise.all([first.end(), second.end()]);
      });
    },
  },
  {
    name: "a connection that sends requests and never reads is dropped for a new one once it is stuck",
    async run() {
      let asked = 0;
      const options = {
        limits: { ...LIMITS, headersMs: 50, requestMs: 50, plainConnections: 1 },
        fetch: async (request: Request): Promise<Response> => {
          if (new URL(request.url).pathname === "/hello") return new Response("hello");
          asked += 1;
          return await new Promise<never>(() => {});
        },
      };
      await withServer(options, async ({ port }) => {
        const stuck = await Wire.open(port);
        stuck.write(request("/stuck"));
        await until("a request", () => asked === 1);
        const answered = await until("a newcomer's answer", async () => {
          const newcomer = await Wire.open(port);
          newcomer.write(request("/hello", "Connection: close\r\n"));
          await until("its end", () => newcomer.ended);
          return newcomer.text.includes("hello");
        });
        assert.ok(answered);
        await until("the end of the stuck connection", () => stuck.ended);
        await stuck.end();
      });
    },
  },
  {
    name: "a connection with too many pending requests is dropped, and they are not handled",
    async run() {
      let asked = 0;
      const fetch = (): Promise<never> => {
        asked += 1;
        return new Promise<never>(() => {});
      };
      await withServer({ fetch }, async ({ port }) => {
        const greedy = await Wire.open(port);
        greedy.write(request("/").repeat(PIPELINED_MAX + 20));
        await until("its end", () => greedy.ended);
        assert.ok(asked <= 1);
        await greedy.end();
      });
    },
  },
  {
    name:
      "requests of one connection are handled one after the other, and a client that reads no answer keeps one in progress",
    async run() {
      const bytes = 32 * 1_024 * 1_024;
      let asked = 0;
      let taken = 0;
      const part = new Uint8Array(65_536);
      const fetch = (): Response => {
        asked += 1;
        const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
          taken += part.length;
          controller.enqueue(part);
          if (taken >= bytes) controller.close();
        };
        const headers = { "content-length": String(bytes) };
        return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers });
      };
      await withServer({ fetch }, async ({ port }) => {
        const deaf = await Wire.open(port);
        deaf.socket.pause();
        deaf.write(request("/").repeat(PIPELINED_MAX));
        let before = -1;
        await until("a full connection", () => {
          const isQuiet = taken > 0 && taken === before;
          before = taken;
          return isQuiet;
        });
        assert.equal(asked, 1);
        assert.ok(taken < bytes, "the connection took a whole answer that nobody read");
        await deaf.end();
      });
    },
  },
  {
    name:
      "connections per address are limited: beyond that its own stalled or idle ones are closed, not another's",
    run: () =>
      withServer({ limits: { ...LIMITS, connectionsPerAddress: 4 } }, async ({ port }) => {
        const wires: Wire[] = [];
        for (let n = 0; n < 7; n++) wires.push(await Wire.open(port));
        await until("the older ones' end", () => wires.filter((wire) => wire.ended).length === 3);
        assert.deepEqual(wires.map((wire) => wire.ended), [true, true, true, false, false, false, false]);
        await Promise.all(wires.map((wire) => wire.end()));
      }),
  },
  {
    name:
      "unread bytes per address are limited: beyond that its newest connection ends, and short answers still go out",
    async run() {
      const over: string[] = [];
      const long = "x".repeat(8 * 1_024 * 1_024);
      const fetch = (request: Request): Response =>
        new Response(new URL(request.url).pathname === "/long" ? long : "short");
      const limits = { ...LIMITS, unsentBytesPerAddress: 20 * 1_024 * 1_024 };
      await withServer({ fetch, limits, over: (limit) => void over.push(limit) }, async ({ port }) => {
        const deaf: Wire[] = [];
        for (let n = 0; n < 3; n++) {
          const wire = await Wire.open(port);
          wire.socket.pause();
          wire.write(request("/long"));
          deaf.push(wire);
        }
        await until("a refusal", () => over.length > 0);
        assert.deepEqual(over, ["unsent_bytes"]);
        const honest = await Wire.open(port);
        honest.write(request("/short"));
        await until("an answer", () => honest.text.includes("short"));
        await Promise.all([...deaf, honest].map((wire) => wire.end()));
      });
    },
  },
  {
    name: "several requests go over one connection; headers over the limit do not",
    run: () =>
      withServer({}, async ({ port }) => {
        const wire = await Wire.open(port);
        wire.write(request("/one") + request("/two"));
        await until("two answers", () => wire.text.includes("/one") && wire.text.includes("/two"));
        const big = await Wire.open(port);
        big.write(request("/", `X-Big: ${"x".repeat(8_000)}\r\n`));
        await until("the end", () => big.ended);
        await wire.end();
      }),
  },
  {
    name: "a request whose handler throws is answered with 500, and so is the next one",
    run: () => {
      const fetch = (): Response => {
        throw new Error("no");
      };
      return withServer({ fetch }, async ({ port }) => {
        for (let n = 0; n < 2; n++) {
          const wire = await Wire.open(port);
          wire.write(request("/"));
          await until("500", () => wire.text.startsWith("HTTP/1.1 500"));
          await wire.end();
        }
      });
    },
  },
];
