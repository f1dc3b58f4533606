/** RFC 6455 against the relay, byte by byte, in the order of the Autobahn suite: framing, pings, reserved bits, opcodes, fragments, UTF-8, closes, limits. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { concatBytes, encodeUtf8 } from "../../src/async/encodings.ts";
import { BINARY_FRAME_MAX_BYTES } from "../../src/protocol/limits.ts";
import { createKey } from "../../src/relay/api_keys.ts";
import { startRelay } from "../../src/relay/server.ts";
import { openStore } from "../../src/store/sqlite.ts";
import type { Case } from "../helpers/on_node.ts";
import { until } from "../helpers/until.ts";
import { keyProtocol } from "./relay_peer.ts";

const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const FIN = 0x80;
const MASK = new Uint8Array([0x11, 0x22, 0x33, 0x44]);

interface FrameOptions {
  opcode: number;
  payload?: Uint8Array;
  fin?: boolean;
  reserved?: number;
  isMasked?: boolean;
}

function frame(
  { opcode, payload = new Uint8Array(), fin = true, reserved = 0, isMasked = true }: FrameOptions,
): Uint8Array {
  const { length } = payload;
  const size = length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : [
    ...[127, 0, 0, 0, 0],
    ...[24, 16, 8, 0].map((shift) => (length >> shift) & 255),
  ];
  const [first = 0, ...rest] = size;
  const head = new Uint8Array([
    (fin ? FIN : 0) | (reserved << 4) | opcode,
    (isMasked ? 0x80 : 0) | first,
    ...rest,
  ]);
  if (!isMasked) return concatBytes([head, payload]);
  return concatBytes([head, MASK, payload.map((byte, at) => byte ^ (MASK[at % 4] ?? 0))]);
}

const text = (value: string, more: Partial<FrameOptions> = {}): Uint8Array =>
  frame({ opcode: OPCODE.text, payload: encodeUtf8(value), ...more });
const more = (payload: Uint8Array, fin: boolean): Uint8Array =>
  frame({ opcode: OPCODE.continuation, payload, fin });
const ping = (payload: Uint8Array = new Uint8Array(), options: Partial<FrameOptions> = {}): Uint8Array =>
  frame({ opcode: OPCODE.ping, payload, ...options });
const close = (code?: number, reason: Uint8Array = new Uint8Array()): Uint8Array =>
  frame({
    opcode: OPCODE.close,
    payload: code === undefined ? reason : concatBytes([new Uint8Array([code >> 8, code & 255]), reason]),
  });
/** Returns a request that the relay answers with a pong for the id, padded with spaces to the length. */
const request = (id: string, length = 0): string => {
  const json = JSON.stringify({ event: "ping", id, data: {} });
  return json + " ".repeat(Math.max(0, length - encodeUtf8(json).length));
};

interface Received {
  opcode: number;
  payload: Uint8Array;
}

class RawSocket {
  readonly frames: Received[] = [];
  head = "";
  isOver = false;
  readonly #socket: Socket;
  #rest = new Uint8Array();

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (part: Uint8Array) => this.#take(new Uint8Array(part)));
    this.#socket.on("error", () => undefined);
    this.#socket.on("close", () => this.isOver = true);
  }

  /** Sends the bytes all at once, or one by one. */
  send(bytes: Uint8Array, { chopped = false } = {}): void {
    if (!chopped) return void this.#socket.write(bytes);
    for (const byte of bytes) this.#socket.write(new Uint8Array([byte]));
  }

  texts(): string[] {
    return this.frames.filter(({ opcode }) => opcode === OPCODE.text)
      .map(({ payload }) => new TextDecoder().decode(payload));
  }

  async answered(id: string): Promise<void> {
    await until(`an answer to ${id}`, () => this.texts().some((one) => JSON.parse(one).re === id));
  }

  async pongs(count: number): Promise<string[]> {
    const found = (): string[] =>
      this.frames.filter(({ opcode }) => opcode === OPCODE.pong).map(({ payload }) =>
        String.fromCharCode(...payload)
      );
    return await until("pongs", () => found().length >= count && found());
  }

  /** Resolves with the code of the relay's close frame: 1005 if it has none, 1006 without a frame. */
  async closed(): Promise<number> {
    await until("the end", () => this.isOver);
    const last = this.frames.find(({ opcode }) => opcode === OPCODE.close);
    if (last === undefined) return 1006;
    const [high, low] = last.payload;
    return high === undefined || low === undefined ? 1005 : high * 256 + low;
  }

  async end(): Promise<void> {
    this.#socket.destroy();
    await until("a closed socket", () => this.isOver);
  }

  #take(part: Uint8Array): void {
    this.#rest = concatBytes([this.#rest, part]) as Uint8Array<ArrayBuffer>;
    if (this.head === "") {
      const all = new TextDecoder("latin1").decode(this.#rest);
      const end = all.indexOf("\r\n\r\n");
      if (end < 0) return;
      this.head = all.slice(0, end);
      this.#rest = this.#rest.slice(end + 4);
    }
    while (this.#next());
  }

  #next(): boolean {
    const [first = 0, second = 0, high = 0, low = 0] = this.#rest;
    const from = second === 126 ? 4 : 2;
    const length = second === 126 ? high * 256 + low : second;
    if (this.#rest.length < from || this.#rest.length < from + length) return false;
    assert.ok(second < 127, "the relay masks nothing, and sends nothing so long");
    this.frames.push({ opcode: first & 15, payload: this.#rest.slice(from, from + length) });
    this.#rest = this.#rest.slice(from + length);
    return true;
  }
}

interface Bench {
  open(): Promise<RawSocket>;
  handshake(headers: Record<string, string | undefined>): Promise<RawSocket>;
}

async function withRelay(directory: string, test: (bench: Bench) => Promise<void>): Promise<void> {
  const dataDir = `${directory}/data`;
  const store = await openStore(dataDir);
  const { key } = await createKey(store, { name: "k", scopes: ["push:read"] });
  await store.close();
  const relay = await startRelay({ listen: "127.0.0.1:0", dataDir });
  const sockets: RawSocket[] = [];
  const handshake: Bench["handshake"] = async (changed) => {
    const headers = {
      Host: "x",
      Upgrade: "websocket",
      Connection: "Upgrade",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol": `svc.v1, ${keyProtocol(key)}`,
      ...changed,
    };
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : `${name}: ${value}\r\n`
    );
    const socket = new RawSocket(relay.port);
    sockets.push(socket);
    socket.send(encodeUtf8(`GET /ws HTTP/1.1\r\n${lines.join("")}\r\n`));
    await until("an answer", () => socket.head !== "" || socket.isOver);
    return socket;
  };
  const open = async (): Promise<RawSocket> => {
    const socket = await handshake({});
    const hello = { role: "phone", name: "raw", version: "1", capabilities: [] };
    socket.send(text(JSON.stringify({ event: "hello", id: "hello", data: hello })));
    await socket.answered("hello");
    return socket;
  };
  try {
    await test({ open, handshake });
  } finally {
    for (const socket of sockets) await socket.end();
    await relay.stop();
  }
}

/** Asserts that each input on a new socket ends it with this code. */
async function ends({ open }: Bench, inputs: Record<string, Uint8Array>, wanted: number): Promise<void> {
  for (const [name, input] of Object.entries(inputs)) {
    const socket = await open();
    socket.send(input);
    assert.equal(await socket.closed(), wanted, name);
  }
}

const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const EDGES = [0, 1, 125, 126, 127, 128, 65_535, 65_536, 200_000];

const TESTS: Record<string, (bench: Bench) => Promise<void>> = {
  async "the handshake of the RFC's example, and refusals of others"({ handshake }) {
    const good = await handshake({
      "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits",
    });
    assert.match(good.head, /^HTTP\/1\.1 101 /);
    assert.match(good.head, /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i);
    assert.match(good.head, /sec-websocket-protocol: svc\.v1\s*$/im);
    assert.doesNotMatch(good.head, /extensions/i);
    for (
      const wrong of [{ "Sec-WebSocket-Version": "12" }, { "Sec-WebSocket-Key": undefined }, {
        "Sec-WebSocket-Key": "x",
      }]
    ) {
      assert.match((await handshake(wrong)).head, /^HTTP\/1\.1 4(00|26) /, JSON.stringify(wrong));
    }
  },
  async "1: text of each length, whole and in single bytes"({ open }) {
    const socket = await open();
    for (const length of EDGES) {
      socket.send(text(request(`l${length}`, length)));
      await socket.answered(`l${length}`);
    }
    socket.send(text(request("chopped", 300)), { chopped: true });
    await socket.answered("chopped");
  },
  async "2: pings are answered with their payload, in order; pongs nobody asked for are ignored"({ open }) {
    const socket = await open();
    socket.send(ping());
    socket.send(ping(encodeUtf8("Hello"), {}), { chopped: true });
    socket.send(ping(bytes(0, 255, 254, 253, 0)));
    socket.send(frame({ opcode: OPCODE.pong, payload: encodeUtf8("unsolicited") }));
    socket.send(ping(new Uint8Array(125).fill(0x2a)));
    for (let n = 0; n < 10; n++) socket.send(ping(encodeUtf8(`payload ${n}`)));
    const expected = ["", "Hello", "\0\u00ff\u00fe\u00fd\0", "*".repeat(125)];
    assert.deepEqual(await socket.pongs(14), [
      ...expected,
      ...Array.from({ length: 10 }, (_, n) => `payload ${n}`),
    ]);
    socket.send(text(request("after")));
    await socket.answered("after");
  },
  "2, 5: control frames that are too long or fragmented end the connection": (bench) =>
    ends(bench, {
      "a ping of 126 bytes": ping(new Uint8Array(126)),
      "a fragmented ping": ping(encodeUtf8("a"), { fin: false }),
      "a fragmented close": frame({ opcode: OPCODE.close, fin: false }),
      "a close of 126 bytes": frame({ opcode: OPCODE.close, payload: new Uint8Array(126).fill(3) }),
    }, 1002),
  "3, 4: reserved bits and opcodes end the connection": (bench) =>
    ends(bench, {
      ...Object.fromEntries(
        [1, 2, 3, 4, 5, 6, 7].map((reserved) => [`bits ${reserved}`, text("{}", { reserved })]),
      ),
      "bits on a ping": ping(new Uint8Array(), { reserved: 4 }),
      ...Object.fromEntries(
        [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) => [`opcode ${opcode}`, frame({ opcode })]),
      ),
    }, 1002),
  "5: frames without a mask, and fragments out of order, end the connection": (bench) =>
    ends(bench, {
      "no mask": text("{}", { isMasked: false }),
      "a continuation of nothing": more(encodeUtf8("{}"), true),
      "an unfinished continuation of nothing": more(encodeUtf8("{}"), false),
      "a text within a text": concatBytes([text("{", { fin: false }), text("}")]),
      "a second continuation": concatBytes([
        text("{", { fin: false }),
        more(encodeUtf8("}"), true),
        more(bytes(), true),
      ]),
    }, 1002),
  async "5: fragments with control frames between them are one message"({ open }) {
    const socket = await open();
    const whole = encodeUtf8(request("parts", 40));
    socket.send(frame({ opcode: OPCODE.text, payload: whole.slice(0, 5), fin: false }));
    socket.send(ping(encodeUtf8("between")));
    for (let at = 5; at < whole.length - 1; at++) socket.send(more(whole.slice(at, at + 1), false));
    socket.send(more(bytes(), false));
    assert.deepEqual(await socket.pongs(1), ["between"]);
    assert.equal(socket.texts().length, 1);
    socket.send(more(whole.slice(-1), true), { chopped: true });
    await socket.answered("parts");
  },
  async "6: valid UTF-8 passes, also when a character is split over fragments"({ open }) {
    const socket = await open();
    const id = "κόσμε 漢 😀 \ufffd \u0800 \u{10ffff}";
    socket.send(text(request(id)));
    await socket.answered(id);
    const whole = encodeUtf8(request(`${id}2`));
    socket.send(frame({ opcode: OPCODE.text, payload: whole.slice(0, 1), fin: false }));
    for (let at = 1; at < whole.length; at++) {
      socket.send(more(whole.slice(at, at + 1), at === whole.length - 1));
    }
    await socket.answered(`${id}2`);
  },
  "6: invalid UTF-8 ends the connection": (bench) =>
    ends(
      bench,
      Object.fromEntries(
        [
          ...[[0x80], [0xc0, 0xaf], [0xc1, 0xbf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf]],
          ...[
            [0xf4, 0x90, 0x80, 0x80],
            [0xf8, 0x88, 0x80, 0x80, 0x80],
            [0xfe],
            [0xff],
            [0xce],
            [0xe6, 0xbc],
            [0xf0, 0x9f, 0x98],
          ],
        ].flatMap((broken): [string, Uint8Array][] => [
          [`${broken}`, frame({ opcode: OPCODE.text, payload: bytes(0x22, ...broken, 0x22) })],
          [
            `${broken} in fragments`,
            concatBytes([
              frame({ opcode: OPCODE.text, payload: bytes(0x22, ...broken.slice(0, 1)), fin: false }),
              more(bytes(...broken.slice(1), 0x22), true),
            ]),
          ],
        ]),
      ),
      1007,
    ),
  async "7: a close is answered with its code; nothing after it is"({ open }) {
    for (const code of [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]) {
      const socket = await open();
      socket.send(
        concatBytes([close(code, encodeUtf8("bye κόσμε")), ping(encodeUtf8("late")), text(request("late"))]),
      );
      assert.equal(await socket.closed(), code);
      assert.deepEqual(
        [socket.texts().length, socket.frames.filter(({ opcode }) => opcode === OPCODE.pong)],
        [1, []],
      );
    }
    const silent = await open();
    silent.send(close());
    assert.equal(await silent.closed(), 1005);
    const unfinished = await open();
    unfinished.send(concatBytes([text("{", { fin: false }), close(1000)]));
    assert.equal(await unfinished.closed(), 1000);
  },
  async "7: a close with an invalid code or reason ends the connection with the fault"(bench) {
    const codes = [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535];
    await ends(bench, Object.fromEntries(codes.map((code) => [`${code}`, close(code)])), 1002);
    await ends(bench, { "one byte": close(undefined, bytes(3)) }, 1002);
    await ends(bench, { "a reason that is no UTF-8": close(1000, bytes(0xce, 0xba, 0xe1)) }, 1007);
  },
  async "9: a message over the limit ends the connection, in one frame or in fragments"(bench) {
    const half = new Uint8Array(BINARY_FRAME_MAX_BYTES / 2 + 1);
    await ends(bench, {
      "one frame": frame({ opcode: OPCODE.binary, payload: new Uint8Array(BINARY_FRAME_MAX_BYTES + 1) }),
      "two fragments": concatBytes([
        frame({ opcode: OPCODE.binary, payload: half, fin: false }),
        more(half, true),
      ]),
    }, 1009);
  },
};

export const cases: readonly Case[] = Object.entries(TESTS).map(([name, test]) => ({
  name: `${name} [other-autobahn]`,
  run: (_runtime, directory) => withRelay(directory, test),
}));
