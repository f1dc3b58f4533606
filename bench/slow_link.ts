/** A simulated mobile network: a TCP proxy that delays every byte and keeps their order. */

const HOST = "127.0.0.1";
const CHUNK_BYTES = 65_536;

export interface SlowLink {
  port: number;
  close(): Promise<void>;
}

/** `oneWayMs`: the delay in each direction. */
export function slowLink(port: number, { oneWayMs }: { oneWayMs: number }): SlowLink {
  const listener = Deno.listen({ hostname: HOST, port: 0 });
  const ends = new Set<Deno.TcpConn>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const accepting = accept();

  async function accept(): Promise<void> {
    for await (const near of listener) {
      const far = await Deno.connect({ hostname: HOST, port });
      for (const end of [near, far]) {
        end.setNoDelay(true);
        ends.add(end);
      }
      void pass(near, far);
      void pass(far, near);
    }
  }

  /** Copies until either end closes, and then closes both. */
  async function pass(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(CHUNK_BYTES);
    let written: Promise<unknown> = Promise.resolve();
    const end = (): void => [from, to].forEach(close);
    for (let size = await read(from, buffer); size > 0; size = await read(from, buffer)) {
      const chunk = buffer.slice(0, size);
      const timer = setTimeout(() => {
        timers.delete(timer);
        written = written.then(() => writeAll(to, chunk)).catch(end);
      }, oneWayMs);
      timers.add(timer);
    }
    end();
  }

  return {
    port: listener.addr.port,
    async close(): Promise<void> {
      listener.close();
      for (const end of ends) close(end);
      for (const timer of timers) clearTimeout(timer);
      await accepting;
    },
  };
}

/** Returns 0 when the stream ends or breaks. */
async function read(from: Deno.TcpConn, buffer: Uint8Array): Promise<number> {
  try {
    return await from.read(buffer) ?? 0;
  } catch {
    return 0;
  }
}

async function writeAll(to: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await to.write(rest));
}

function close(end: Deno.TcpConn): void {
  try {
    end.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
