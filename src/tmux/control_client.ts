/** A tmux server through one control-mode client: 0.1 ms a round trip instead of 2 ms a spawn. */
import type { PipedChild } from "../runtime/types.ts";
import { commandLine, type TmuxCommand, verbs } from "./argv.ts";
import { type Block, ControlParser } from "./control_parser.ts";
import { TmuxError, type TmuxServer } from "./server.ts";

/** A server that does not answer in this time is given up. */
export const REQUEST_LIMIT_MS = 10_000;

interface Request {
  sentinel: string;
  timer: ReturnType<typeof setTimeout>;
  blocks: Block[];
  resolve(text: string): void;
  reject(error: Error): void;
}

const encoder = new TextEncoder();

/**
 * Requests are answered in order. Each is followed by a command that prints an unguessable sentinel, since the number
 * of blocks a request yields depends on the branch that `if-shell` takes and ends at the first error.
 */
export class ControlClient implements TmuxServer {
  readonly socket: string;
  readonly closed: Promise<void>;
  #child: PipedChild;
  #requests: Request[] = [];
  #nonce = crypto.randomUUID();
  #count = 0;
  #ended: string | undefined;

  constructor(socket: string, child: PipedChild) {
    this.socket = socket;
    this.#child = child;
    this.closed = this.#read();
  }

  get alive(): boolean {
    return this.#ended === undefined;
  }

  run(...commands: TmuxCommand[]): Promise<string> {
    if (this.#ended !== undefined) return Promise.reject(new TmuxError(this.#ended));
    const sentinel = `svc-${this.#nonce}-${++this.#count}`;
    const lines = `${commandLine(commands)}\n${commandLine([verbs.printPlain(sentinel)])}\n`;
    const answer = new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(), REQUEST_LIMIT_MS);
      this.#requests.push({ sentinel, timer, blocks: [], resolve, reject });
    });
    this.#child.stdin.write(encoder.encode(lines)).catch((error) => this.#end(String(error)));
    return answer;
  }

  /** Detaches; requests under way fail. */
  async close(): Promise<void> {
    this.#end("the control client was closed");
    await this.closed;
  }

  async #read(): Promise<void> {
    const parser = new ControlParser();
    const drained = this.#drainErrors();
    for await (const chunk of this.#child.stdout) {
      for (const item of parser.feed(chunk)) {
        if (item.kind === "block") this.#block(item);
        else if (item.line.startsWith("%exit")) this.#end(`tmux ended the control client: ${item.line}`);
      }
    }
    this.#end("tmux ended the control client");
    await drained;
    await this.#child.exited;
  }

  async #drainErrors(): Promise<void> {
    for await (const _chunk of this.#child.stderr);
  }

  #block(block: Block): void {
    const request = this.#requests[0];
    if (request === undefined) return;
    if (!block.ok || block.text !== request.sentinel) {
      request.blocks.push(block);
      return;
    }
    this.#requests.shift();
    clearTimeout(request.timer);
    const failed = request.blocks.find((one) => !one.ok);
    if (failed) request.reject(new TmuxError(failed.text));
    else request.resolve(request.blocks.map((one) => one.text).filter((text) => text !== "").join("\n"));
  }

  #end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#child.stdin.close();
    for (const request of this.#requests.splice(0)) {
      clearTimeout(request.timer);
      request.reject(new TmuxError(reason, { lost: true }));
    }
  }

  #giveUp(): void {
    this.#end(`tmux did not answer within ${REQUEST_LIMIT_MS} ms`);
    this.#child.kill("SIGKILL");
  }
}
