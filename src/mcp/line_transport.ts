/** MCP over standard input and output: one JSON-RPC message per line. */
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";

export interface Lines {
  /** Ends when the client is gone. */
  read: AsyncIterable<string>;
  write(text: string): void;
}

/** The library's own transport needs Node's streams, which take longer to load in Deno than all of svc mcp. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  /** Resolves when the client is gone. */
  readonly ended: Promise<void>;
  readonly #lines: Lines;
  #end!: () => void;

  constructor(lines: Lines) {
    this.#lines = lines;
    this.ended = new Promise((resolve) => this.#end = resolve);
  }

  start(): Promise<void> {
    void this.#read();
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    try {
      this.#lines.write(serializeMessage(message));
      return Promise.resolve();
    } catch (error) {
      void this.close();
      return Promise.reject(error);
    }
  }

  close(): Promise<void> {
    this.onclose?.();
    this.onclose = undefined;
    this.#end();
    return Promise.resolve();
  }

  async #read(): Promise<void> {
    for await (const line of this.#lines.read) this.#take(line);
    await this.close();
  }

  /** Skips what is not a message: the protocol has no answer for it. */
  #take(line: string): void {
    if (line.trim() === "") return;
    try {
      this.onmessage?.(deserializeMessage(line));
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
