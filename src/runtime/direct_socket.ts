/** A client's WebSocket whose small frames leave at once: Deno's own holds each back until the one before is acknowledged, up to 40 ms. */
import type { Buffer } from "node:buffer";
import { type ClientOptions, type RawData, WebSocket } from "ws";
import { createNativeSocket, type CreateSocket } from "../client/socket.ts";
import { BINARY_FRAME_MAX_BYTES } from "../protocol/limits.ts";
import { hasProxy } from "./system.ts";

/** A peer that does not answer the close in this time is cut off. */
const CLOSE_LIMIT_MS = 1_000;

const OPTIONS: ClientOptions = {
  // Frames are small, or sealed and so not compressible.
  perMessageDeflate: false,
  maxPayload: BINARY_FRAME_MAX_BYTES,
};

/** `ws` knows no proxy: where the environment names one, the runtime's own socket decides whether it is to be used. */
export function socketFor(env: Readonly<Record<string, string | undefined>>): CreateSocket {
  return hasProxy(env) ? createNativeSocket : createDirectSocket;
}

/** `ws` switches Nagle's algorithm off (RFC 896). */
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
  // What failed shows in the code of "close", which follows.
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

/** A message comes in one piece unless fragments are asked for. */
function bytesOf(data: RawData): Uint8Array {
  const { buffer, byteOffset, length } = data as Buffer;
  return new Uint8Array(buffer, byteOffset, length);
}
