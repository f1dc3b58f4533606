/** A TCP proxy before a relay that records every byte and may change some: what a hostile relay sees and does. */

const HOST = "127.0.0.1";
const HEADERS_END = "\r\n\r\n";
const latin1 = new TextDecoder("latin1");

export interface Tap {
  /** Returns both directions of every connection; WebSocket frames of clients are unmasked. */
  seen(): string;
  /** `host:port` to connect to instead of the relay's. */
  host: string;
  close(): Promise<void>;
}

export interface TapOptions {
  port: number;
  /** Changes a chunk; must keep its length. */
  change?: (bytes: Uint8Array, direction: "up" | "down") => Uint8Array;
}

export function tapWire({ port, change = (bytes) => bytes }: TapOptions): Tap {
  const listener = Deno.listen({ hostname: HOST, port: 0 });
  const connections = new Set<Deno.TcpConn>();
  const taken: { up: number[]; down: number[] }[] = [];
  const done = accept();

  async function accept(): Promise<void> {
    const running: Promise<void>[] = [];
    for await (const near of listener) running.push(join(near));
    await Promise.all(running);
  }

  async function join(near: Deno.TcpConn): Promise<void> {
    const far = await Deno.connect({ hostname: HOST, port }).catch(() => undefined);
    // The relay has ended, so the connection does too.
    if (far === undefined) return close(near);
    const bytes = { up: [], down: [] };
    taken.push(bytes);
    await Promise.all([
      pass(near, far, { into: bytes.up, direction: "up" }),
      pass(far, near, { into: bytes.down, direction: "down" }),
    ]);
  }

  /** Copies until either end closes, and then closes both. */
  async function pass(
    from: Deno.TcpConn,
    to: Deno.TcpConn,
    { into, direction }: { into: number[]; direction: "up" | "down" },
  ): Promise<void> {
    connections.add(from);
    try {
      for await (const chunk of from.readable) {
        for (const byte of chunk) into.push(byte);
        const writer = to.writable.getWriter();
        await writer.write(change(chunk, direction));
        writer.releaseLock();
      }
    } catch {
      // When one end breaks, the other is closed below.
    }
    for (const end of [from, to]) close(end);
  }

  const { port: ownPort } = listener.addr;
  return {
    seen: () =>
      taken.map(({ up, down }) => unmasked(Uint8Array.from(up)) + latin1.decode(Uint8Array.from(down))).join(
        "",
      ),
    host: `${HOST}:${ownPort}`,
    close: async () => {
      listener.close();
      for (const connection of connections) close(connection);
      await done;
    },
  };
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** Returns what a client sent: requests unchanged, WebSocket frames without their mask (RFC 6455, section 5.3). */
function unmasked(bytes: Uint8Array): string {
  const text = latin1.decode(bytes);
  const end = text.indexOf(HEADERS_END);
  if (end < 0 || !/^upgrade: *websocket/im.test(text.slice(0, end))) return text;
  const frames: string[] = [];
  let at = end + HEADERS_END.length;
  while (at + 6 <= bytes.length) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const [length, head] = short === 126
      ? [view.getUint16(at + 2), 4]
      : short === 127
      ? [Number(view.getBigUint64(at + 2)), 10]
      : [short, 2];
    const mask = bytes.subarray(at + head, at + head + 4);
    const payload = bytes.subarray(at + head + 4, at + head + 4 + length);
    frames.push(latin1.decode(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))));
    at += head + 4 + length;
  }
  return text.slice(0, end) + frames.join("");
}
