/** A WebSocket that sends small frames at once: Deno's delays each until the last one is acknowledged, up to 40 ms. */
import type { Buffer } from "node:buffer";
import { type ClientOptions, type RawData, WebSocket } from "ws";
import { createNativeSocket, type CreateSocket } from "../client/relay_link.ts";
import { BINARY_FRAME_MAX_BYTES } from "../protocol/limits.ts";
import { hasProxy } from "./system.ts";

/** How long a peer may take to answer a close before it is cut off. */
const CLOSE_LIMIT_MS = 1_000;

const OPTIONS: ClientOptions = {
  // Frames are small, or sealed and so not compressible.
  perMessageDeflate: false,
  maxPayload: BINARY_FRAME_MAX_BYTES,
};

/** `ws` does not support proxies: where the environment names one, the runtime's own socket is used. */
export function socketFor(env: Readonly<Record<string, string | undefined>>): CreateSocket {
  return hasProxy(env) ? createNativeSocket : createDirectSocket;
}

/** `ws` disables Nagle's algorithm (RFC 896). */
export const createDirectSocket: CreateSocket = (url, protocols, handlers) => {
  const socket = new WebSocket(url, protocols, OPTIONS);
  let isOver = false;
  const end = (code: number, reason: string): void => {
    if (isOver) return;
    isOver = true;
    handlers.ended({ code, reason });
  };
  socket.on("open", () => isOver || handlers.opened());
  socket.on("message", (data, isBinary) => {
    if (isOver) return;
    const bytes = bytesOf(data);
    if (isBinary) handlers.bytes(bytes);
    else handlers.text(new TextDecoder().decode(bytes));
  });
  socket.on("close", (code, reason) => end(code, reason.toString()));
  // The "close" event that follows carries the code.
  socket.on("error", () => undefined);
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send: (data) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    },
    close: () => {
      isOver = true;
      closeSoon(socket);
    },
  };
};

function closeSoon(socket: WebSocket): void {
  if (socket.readyState === WebSocket.CLOSED) return;
  if (socket.readyState === WebSocket.CONNECTING) return socket.terminate();
  const timer = setTimeout(() => socket.terminate(), CLOSE_LIMIT_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.close(1000);
}

/** By default, `ws` delivers a message as one Buffer. */
function bytesOf(data: RawData): Uint8Array {
  const { buffer, byteOffset, length } = data as Buffer;
  return new Uint8Array(buffer, byteOffset, length);
}
