/** Mosquitto, and the few packets of MQTT 3.1.1 that a QoS 1 client needs. */
import { concatBytes, decodeUtf8, encodeUtf8 } from "../src/async/encodings.ts";
import type { Sandbox } from "../tests/helpers/sandbox.ts";
import { until } from "../tests/helpers/until.ts";

const HOST = "127.0.0.1";
const PACKET = { connect: 0x10, connack: 2, publish: 3, puback: 4, subscribe: 0x82, suback: 9 } as const;
const PUBLISH_QOS1 = 0x32;
const PUBACK = 0x40;

const concat = (...parts: Uint8Array[]): Uint8Array<ArrayBuffer> => concatBytes(parts);

/**
 * Starts a broker that listens on loopback and stores nothing. Returns its port; undefined if mosquitto is not
 * installed.
 */
export async function startMosquitto(sandbox: Sandbox): Promise<number | undefined> {
  const port = freePort();
  const config = `${sandbox.root}/mosquitto.conf`;
  await Deno.writeTextFile(
    config,
    `listener ${port} ${HOST}\nallow_anonymous true\nmax_inflight_messages 0\nmax_queued_messages 0\n`,
  );
  const stdio = { stdout: "null", stderr: "null" } as const;
  const env = { ...sandbox.env, PATH: `${sandbox.env["PATH"]}:/usr/sbin:/usr/local/sbin` };
  try {
    const child = new Deno.Command("mosquitto", { args: ["-c", config], env, clearEnv: true, ...stdio })
      .spawn();
    sandbox.killAtEnd(child.pid);
    sandbox.awaitAtEnd(child.status);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  await until("mosquitto", async () => {
    const connection = await Deno.connect({ hostname: HOST, port }).catch(() => undefined);
    connection?.close();
    return connection !== undefined;
  });
  return port;
}

function freePort(): number {
  const listener = Deno.listen({ hostname: HOST, port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

/** One connection; `received` is called with the text of each message published to its topic. */
export class MqttClient {
  readonly #connection: Deno.TcpConn;
  readonly #waiting = new Map<number, () => void>();
  readonly #received: (text: string) => void;
  #next = 1;

  private constructor(connection: Deno.TcpConn, received: (text: string) => void) {
    this.#connection = connection;
    this.#received = received;
  }

  static async connect(port: number, received: (text: string) => void = () => {}): Promise<MqttClient> {
    const connection = await Deno.connect({ hostname: HOST, port });
    connection.setNoDelay(true);
    const client = new MqttClient(connection, received);
    void client.#read();
    const flags = new Uint8Array([4, 2, 0, 0]);
    const connected = client.#answer(0);
    const id = text(crypto.randomUUID().slice(0, 20));
    await client.#send(PACKET.connect, concat(text("MQTT"), flags, id));
    await connected;
    return client;
  }

  /** Resolves once the broker has acknowledged the message. */
  async publish(topic: string, message: string): Promise<void> {
    const id = this.#id();
    const done = this.#answer(id);
    await this.#send(PUBLISH_QOS1, concat(text(topic), number(id), encodeUtf8(message)));
    await done;
  }

  async subscribe(topic: string): Promise<void> {
    const id = this.#id();
    const done = this.#answer(id);
    await this.#send(PACKET.subscribe, concat(number(id), text(topic), new Uint8Array([1])));
    await done;
  }

  close(): void {
    this.#connection.close();
  }

  #id(): number {
    return this.#next = this.#next % 65_535 + 1;
  }

  #answer(id: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async #send(type: number, body: Uint8Array): Promise<void> {
    const bytes = concat(new Uint8Array([type, ...lengthOf(body.length)]), body);
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await this.#connection.write(rest));
  }

  async #read(): Promise<void> {
    const buffer = new Uint8Array(65_536);
    let bytes = new Uint8Array();
    for (;;) {
      const size = await this.#connection.read(buffer).catch(() => null);
      if (size === null) return;
      bytes = concat(bytes, buffer.subarray(0, size));
      for (let packet = firstPacket(bytes); packet !== undefined; packet = firstPacket(bytes)) {
        bytes = bytes.slice(packet.end);
        this.#take(packet);
      }
    }
  }

  #take({ type, body }: Packet): void {
    if (type === PACKET.publish) {
      const topic = numberAt(body, 0);
      void this.#send(PUBACK, body.slice(2 + topic, 4 + topic));
      return this.#received(decodeUtf8(body.slice(4 + topic)) ?? "");
    }
    const id = type === PACKET.connack ? 0 : numberAt(body, 0);
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
  }
}

interface Packet {
  type: number;
  body: Uint8Array;
  end: number;
}

function firstPacket(bytes: Uint8Array): Packet | undefined {
  let length = 0;
  for (let at = 1; at < bytes.length && at <= 4; at++) {
    const byte = bytes[at] ?? 0;
    length += (byte & 0x7f) * 128 ** (at - 1);
    if (byte >= 0x80) continue;
    const end = at + 1 + length;
    return end > bytes.length
      ? undefined
      : { type: (bytes[0] ?? 0) >> 4, body: bytes.slice(at + 1, end), end };
  }
  return undefined;
}

function lengthOf(length: number): number[] {
  return length < 128 ? [length] : [length % 128 + 128, ...lengthOf(Math.floor(length / 128))];
}

const number = (value: number): Uint8Array => new Uint8Array([value >> 8, value & 0xff]);

const numberAt = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0);

function text(value: string): Uint8Array {
  const bytes = encodeUtf8(value);
  return concat(number(bytes.length), bytes);
}
