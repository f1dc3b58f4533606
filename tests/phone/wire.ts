/** A TCP proxy between phone and relay that can be redirected, cut and frozen. */

const HOST = "127.0.0.1";

export class Wire {
  readonly #listener = Deno.listen({ hostname: HOST, port: 0 });
  readonly #connections = new Set<Deno.TcpConn>();
  readonly #done: Promise<void>;
  #port: number;
  #frozen = Promise.withResolvers<void>();

  constructor(port: number) {
    this.#port = port;
    this.#frozen.resolve();
    this.#done = this.#accept();
  }

  get url(): string {
    return `http://${HOST}:${this.#listener.addr.port}`;
  }

  /** Sends new connections to this port, and cuts open ones. */
  pointTo(port: number): void {
    this.#port = port;
    this.cut();
  }

  cut(): void {
    for (const connection of this.#connections) close(connection);
    this.#connections.clear();
  }

  /** Keeps connections open, but passes nothing. */
  freeze(): void {
    this.#frozen = Promise.withResolvers();
  }

  thaw(): void {
    this.#frozen.resolve();
  }

  async close(): Promise<void> {
    this.thaw();
    this.#listener.close();
    this.cut();
    await this.#done;
  }

  async #accept(): Promise<void> {
    const running: Promise<void>[] = [];
    for await (const near of this.#listener) running.push(this.#join(near));
    await Promise.all(running);
  }

  async #join(near: Deno.TcpConn): Promise<void> {
    this.#connections.add(near);
    const far = await Deno.connect({ hostname: HOST, port: this.#port }).catch(() => undefined);
    if (far === undefined) return close(near);
    this.#connections.add(far);
    await Promise.all([this.#pass(near, far), this.#pass(far, near)]);
  }

  /** Runs until either end closes, then closes both. */
  async #pass(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    try {
      for await (const chunk of from.readable) {
        await this.#frozen.promise;
        const writer = to.writable.getWriter();
        await writer.write(chunk);
        writer.releaseLock();
      }
    } catch {
      // If one end fails, the other one is closed below.
    }
    for (const connection of [from, to]) {
      close(connection);
      this.#connections.delete(connection);
    }
  }
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
