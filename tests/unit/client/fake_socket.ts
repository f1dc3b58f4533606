/** Sockets for which the test plays the relay. */
import type { CreateSocket, LinkSocket, SocketHandlers } from "../../../src/client/relay_link.ts";
import {
  encodeFrame,
  type EventData,
  type EventName,
  type Frame,
  parseFrame,
} from "../../../src/protocol/frames.ts";

export class FakeSocket implements LinkSocket {
  bufferedAmount = 0;
  closed = false;
  readonly sent: (string | Uint8Array)[] = [];
  readonly protocols: string[];
  readonly handlers: SocketHandlers;

  constructor(protocols: string[], handlers: SocketHandlers) {
    this.protocols = protocols;
    this.handlers = handlers;
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }

  close(): void {
    this.closed = true;
  }

  /** The events that the link sent, in order. */
  get events(): string[] {
    return this.frames.map((frame) => frame.event);
  }

  get frames(): Frame[] {
    return this.sent.filter((data) => typeof data === "string").map((text) => parseFrame(text) as Frame);
  }

  /** Delivers an event from the relay. */
  says<E extends EventName>(event: E, data: EventData<E>, ids: { id?: string; re?: string } = {}): void {
    this.handlers.text(encodeFrame(event, data, ids));
  }

  /** Opens the socket and sends the welcome. */
  welcome(now = 0): void {
    this.handlers.opened();
    this.says("welcome", {
      relayVersion: "0.1.0",
      protocolVersion: 1,
      deviceId: "dev_phone_1",
      now,
      limits: {},
    });
  }

  ends(code: number, reason = ""): void {
    this.handlers.ended({ code, reason });
  }
}

/** Every socket that was created, newest last; `alive` counts those that the link has not closed. */
export class FakeSockets {
  readonly made: FakeSocket[] = [];

  readonly create: CreateSocket = (_url, protocols, handlers) => {
    const socket = new FakeSocket(protocols, handlers);
    this.made.push(socket);
    return socket;
  };

  get last(): FakeSocket {
    const socket = this.made.at(-1);
    if (socket === undefined) throw new Error("no socket was made");
    return socket;
  }

  get alive(): number {
    return this.made.filter((socket) => !socket.closed).length;
  }
}
