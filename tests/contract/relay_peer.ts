/** A client of a real relay that can break the protocol: sends frames through `ws`, bytes through a bare socket. */
import { connect, type Socket } from "node:net";
import { request as requestOverTls } from "node:https";
import { WebSocket } from "ws";
import {
  encodeFrame,
  type EventData,
  type EventName,
  type Frame,
  parseFrame,
} from "../../src/protocol/frames.ts";
import { KEY_SUBPROTOCOL_PREFIX, SUBPROTOCOL } from "../../src/protocol/limits.ts";
import { until } from "../helpers/until.ts";
import { encodeBase64url } from "../../src/async/encodings.ts";

export class Peer {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | undefined;
  /** HTTP status and body of a refused handshake. */
  refused: { status: number; type: string; body: string } | undefined;

  constructor(wsUrl: string, { key, protocols }: { key?: string; protocols?: string[] }) {
    const offered = protocols ?? [SUBPROTOCOL, ...(key === undefined ? [] : [keyProtocol(key)])];
    this.socket = new WebSocket(wsUrl, offered, {
      perMessageDeflate: true,
      rejectUnauthorized: false,
    });
    this.socket.on("message", (data) => {
      const frame = parseFrame(String(data));
      if ("event" in frame && !("fault" in frame)) this.frames.push(frame);
    });
    this.socket.on("close", (code, reason) => this.closed ??= { code, reason: String(reason) });
    this.socket.on("error", () => undefined);
    this.socket.on("unexpected-response", (_request, response) => {
      let body = "";
      response.on("data", (part) => body += part);
      response.on("end", () => {
        this.refused = {
          status: response.statusCode ?? 0,
          type: response.headers["content-type"] ?? "",
          body,
        };
      });
    });
  }

  static async listener(wsUrl: string, key: string, deviceId = "dev_listener_0a1b2c3d"): Promise<Peer> {
    return await Peer.greeted(wsUrl, { key, hello: { role: "listener", deviceId } });
  }

  static async greeted(
    wsUrl: string,
    { key, hello }: { key: string; hello: Partial<EventData<"hello">> },
  ): Promise<Peer> {
    const peer = new Peer(wsUrl, { key });
    await until("an open socket", () => peer.socket.readyState === WebSocket.OPEN);
    peer.send("hello", { role: "phone", name: "peer", version: "1.0.0", capabilities: [], ...hello });
    await peer.first("welcome");
    return peer;
  }

  send<E extends EventName>(event: E, data: EventData<E>, id?: string): void {
    this.socket.send(encodeFrame(event, data, id === undefined ? {} : { id }));
  }

  received<E extends EventName>(event: E): Extract<Frame, { event: E }>[] {
    return this.frames.filter((frame): frame is Extract<Frame, { event: E }> => frame.event === event);
  }

  async first<E extends EventName>(event: E): Promise<EventData<E>> {
    return (await until(event, () => this.received(event)[0])).data as EventData<E>;
  }

  async end(): Promise<{ code: number; reason: string }> {
    return await until("the end of a socket", () => this.closed);
  }

  async leave(): Promise<void> {
    this.socket.close();
    await this.end();
  }
}

export function keyProtocol(key: string): string {
  return KEY_SUBPROTOCOL_PREFIX + encodeBase64url(new TextEncoder().encode(key));
}

/** A bare connection: what it received, and whether it has ended. */
export class Wire {
  readonly socket: Socket;
  text = "";
  ended = false;

  private constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.on("data", (part) => this.text += part.toString("latin1"));
    this.socket.on("close", () => this.ended = true);
    this.socket.on("error", () => this.ended = true);
  }

  static async open(port: number): Promise<Wire> {
    const wire = new Wire(port);
    await new Promise<void>((resolve) => wire.socket.once("connect", resolve));
    return wire;
  }

  write(text: string): void {
    this.socket.write(text);
  }

  async end(): Promise<void> {
    this.socket.destroy();
    await until("a closed connection", () => this.ended);
  }
}

/** Sends one HTTP request over a new connection. */
export async function ask(
  url: string,
  { method = "GET", path, key, body }: { method?: string; path: string; key?: string; body?: unknown },
): Promise<{ status: number; json: Record<string, unknown> }> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      connection: "close",
      ...(key === undefined ? {} : { "x-api-key": key }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === "" ? {} : JSON.parse(text) };
}

/** Returns the status of a GET over TLS, without verifying the certificate. */
export function statusOverTls(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = requestOverTls(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode ?? 0));
    });
    request.on("error", reject);
    request.end();
  });
}
