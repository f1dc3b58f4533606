/** A small wrapper around the native WebSocket that reports the end of every connection exactly once. */
import { encodeBase64url, encodeUtf8 } from "../async/encodings.ts";
import { KEY_SUBPROTOCOL_PREFIX, SUBPROTOCOL } from "../protocol/limits.ts";

export interface SocketEnd {
  /** Close code; 1006 when the connection broke without one. */
  code: number;
  reason: string;
}

export interface SocketHandlers {
  opened(): void;
  text(text: string): void;
  bytes(bytes: Uint8Array): void;
  /** Called at most once, and never after a local `close`. */
  ended(end: SocketEnd): void;
}

export interface LinkSocket {
  readonly bufferedAmount: number;
  send(data: string | Uint8Array): void;
  /** Closes the socket; no handler is called afterwards. */
  close(): void;
}

export type CreateSocket = (url: string, protocols: string[], handlers: SocketHandlers) => LinkSocket;

/**
 * The entries of `Sec-WebSocket-Protocol` that carry the key: the only header of the handshake that every runtime lets
 * a client set.
 */
export function keyProtocols(apiKey: string): string[] {
  return [SUBPROTOCOL, KEY_SUBPROTOCOL_PREFIX + encodeBase64url(encodeUtf8(apiKey))];
}

/** Node 22 reports a failed handshake with `error` alone, others also with `close`: only the first is passed on. */
export const createNativeSocket: CreateSocket = (url, protocols, handlers) => {
  const socket = new WebSocket(url, protocols);
  socket.binaryType = "arraybuffer";
  const abort = new AbortController();
  const { signal } = abort;
  let open = false;
  const end = (found: SocketEnd): void => {
    if (signal.aborted) return;
    abort.abort();
    handlers.ended(found);
  };
  socket.addEventListener("open", () => {
    open = true;
    handlers.opened();
  }, { signal });
  socket.addEventListener("message", (event: MessageEvent<unknown>) => {
    if (typeof event.data === "string") handlers.text(event.data);
    else if (event.data instanceof ArrayBuffer) handlers.bytes(new Uint8Array(event.data));
  }, { signal });
  socket.addEventListener("close", ({ code, reason }) => end({ code: code || 1006, reason }), { signal });
  socket.addEventListener("error", () => {
    if (!open) end({ code: 1006, reason: "" });
  }, { signal });
  return {
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send: (data) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data as string | Uint8Array<ArrayBuffer>);
    },
    close: () => {
      abort.abort();
      socket.close(1000);
    },
  };
};
