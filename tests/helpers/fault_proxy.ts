/** A TCP proxy before a relay that cuts, stalls, half-closes and delays connections, and replays what they carry. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

type Side = "near" | "far";

interface Pair {
  near: Socket;
  far: Socket;
  /** Bytes for each side that wait until a stall ends, in order. */
  held: Record<Side, Uint8Array[]>;
}

/** How many requests are kept for a replay. */
const REPLAYED_MAX = 200;

export class FaultProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: number;
  readonly #pairs = new Set<Pair>();
  readonly #requests: Uint8Array[] = [];
  #isStalled = false;
  #delayMs = 0;
  #replays = false;
  /** How many requests and frames were sent a second time. */
  replayed = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#join(near));
  }

  static async start(url: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(Number(new URL(url).port));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get host(): string {
    const address = this.#server.address();
    return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  /** Cuts every connection. */
  cut(): void {
    for (const pair of this.#pairs) end(pair);
  }

  /** Ends one direction of every connection, as a peer that sends nothing more. */
  halfClose(side: Side): void {
    for (const pair of this.#pairs) pair[side].end();
  }

  /** Holds everything that arrives, until `flow`. */
  stall(): void {
    this.#isStalled = true;
  }

  flow(): void {
    this.#isStalled = false;
    for (const pair of this.#pairs) {
      for (const side of ["near", "far"] as const) {
        for (const bytes of pair.held[side].splice(0)) this.#write(pair, side, bytes);
      }
    }
  }

  /** Delays everything by this time. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** From now on sends every WebSocket frame twice, and keeps requests for `replayRequests`. */
  replay(): void {
    this.#replays = true;
  }

  /** Sends the requests of messages once more, each over a new connection. */
  async replayRequests(): Promise<void> {
    await Promise.all(
      this.#requests.splice(0).map(async (request) => {
        const again = connect(this.#target, "127.0.0.1");
        again.on("error", () => again.destroy());
        again.write(request);
        this.replayed++;
        await Promise.race([once(again, "data"), once(again, "close")]);
        again.destroy();
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(near: Socket): void {
    const far = connect({ port: this.#target, host: "127.0.0.1", allowHalfOpen: true });
    const pair: Pair = { near, far, held: { near: [], far: [] } };
    this.#pairs.add(pair);
    for (const [from, to] of [["near", "far"], ["far", "near"]] as const) {
      const frames = new Frames();
      pair[from].on("data", (bytes: Uint8Array) => {
        if (from === "near") this.#keep(bytes);
        for (const part of frames.split(bytes)) this.#pass(pair, to, part);
      });
      pair[from].on("end", () => this.#later(() => pair[to].end()));
      pair[from].on("error", () => end(pair));
      pair[from].on("close", () => {
        end(pair);
        this.#pairs.delete(pair);
      });
    }
  }

  #keep(bytes: Uint8Array): void {
    const isPost = new TextDecoder().decode(bytes.subarray(0, 20)).startsWith("POST /");
    if (this.#replays && isPost && this.#requests.length < REPLAYED_MAX) this.#requests.push(bytes.slice());
  }

  #pass(pair: Pair, to: Side, { bytes, isFrame }: Part): void {
    const times = this.#replays && isFrame ? 2 : 1;
    this.replayed += times - 1;
    for (let time = 0; time < times; time++) this.#later(() => this.#write(pair, to, bytes));
  }

  /** Keeps the order of the calls: a timer of the same length never overtakes another. */
  #later(act: () => void): void {
    if (this.#delayMs > 0) setTimeout(act, this.#delayMs);
    else act();
  }

  #write(pair: Pair, to: Side, bytes: Uint8Array): void {
    if (this.#isStalled) pair.held[to].push(bytes);
    else if (pair[to].writable) pair[to].write(bytes);
  }
}

function end({ near, far }: Pair): void {
  near.destroy();
  far.destroy();
}

interface Part {
  bytes: Uint8Array;
  /** Whether this is a whole text frame after the greeting; nothing else may be repeated. */
  isFrame: boolean;
}

/** Splits one side's WebSocket data into frames after the handshake; passes everything else unchanged. */
class Frames {
  #isSocket = false;
  #rest = new Uint8Array();
  #count = 0;

  split(chunk: Uint8Array): Part[] {
    if (!this.#isSocket) {
      const text = new TextDecoder("latin1").decode(chunk);
      const head = /^(?:HTTP\/1\.1 101 |GET \/ws )/.test(text) ? text.indexOf("\r\n\r\n") + 4 : 0;
      if (head < 4) return [{ bytes: chunk, isFrame: false }];
      this.#isSocket = true;
      return [{ bytes: chunk.slice(0, head), isFrame: false }, ...this.split(chunk.slice(head))];
    }
    const all = new Uint8Array([...this.#rest, ...chunk]);
    const parts: Part[] = [];
    let at = 0;
    for (let length = frameLength(all); at + length <= all.length && length > 0;) {
      const bytes = all.slice(at, at + length);
      parts.push({ bytes, isFrame: bytes[0] === TEXT_FRAME && this.#count++ >= GREETING_FRAMES });
      at += length;
      length = frameLength(all.subarray(at));
    }
    this.#rest = all.slice(at);
    return parts;
  }
}

/** A second `hello` or `welcome` would only end the connection. */
const GREETING_FRAMES = 1;
/** The first byte of a final text frame without compression (RFC 6455, section 5.2). */
const TEXT_FRAME = 0x81;

/** Returns the frame's length; 0 while the header is incomplete. */
function frameLength(bytes: Uint8Array): number {
  const [, second = 0] = bytes;
  const mask = second & 0x80 ? 4 : 0;
  const short = second & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 2 + extra) return 0;
  if (extra === 0) return 2 + mask + short;
  const view = new DataView(bytes.buffer, bytes.byteOffset + 2, extra);
  return 2 + extra + mask + (extra === 2 ? view.getUint16(0) : Number(view.getBigUint64(0)));
}
