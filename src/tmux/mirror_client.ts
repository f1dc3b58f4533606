/** A control-mode client that gets one pane's output: it never resizes, and reads all that comes, at once. */
import type { PipedChild } from "../runtime/types.ts";
import { commandLine, type TmuxCommand } from "./argv.ts";
import type { Block } from "./control_parser.ts";
import { REQUEST_LIMIT_MS } from "./control_client.ts";
import { type MirrorItem, MirrorParser } from "./mirror_parser.ts";
import { TmuxError } from "./server.ts";

export interface MirrorEvents {
  /** The pane's program wrote this. */
  output(bytes: Uint8Array): void;
  /** Another pane wrote so many bytes. */
  otherOutput(length: number): void;
  /** A line such as `%layout-change …`. */
  notified(line: string): void;
  /** The client is gone, for whatever reason but `close`. Called once at most. */
  ended(): void;
}

/** What each of the commands printed, or why one failed; those after it did not run then. */
export type MirrorAnswer = string[] | TmuxError;

interface Request {
  left: number;
  texts: string[];
  timer: ReturnType<typeof setTimeout>;
  done(answer: MirrorAnswer): void;
}

const encoder = new TextEncoder();

export class MirrorClient {
  readonly #child: PipedChild;
  readonly #events: MirrorEvents;
  readonly #parser: MirrorParser;
  readonly #reading: Promise<void>;
  #requests: Request[] = [];
  #isOver = false;

  constructor(child: PipedChild, { pane, events }: { pane: string; events: MirrorEvents }) {
    this.#child = child;
    this.#events = events;
    this.#parser = new MirrorParser(pane);
    this.#reading = this.#read();
  }

  /**
   * Runs the commands in one go: no output of a pane comes between them. `done` is called while the last answer is
   * parsed, so that it knows exactly which output came before and which comes after. Only commands that print one
   * block each (no `if-shell`).
   */
  request(commands: readonly TmuxCommand[], done: (answer: MirrorAnswer) => void): void {
    if (this.#isOver) return done(new TmuxError("the mirror's client has ended", { lost: true }));
    const timer = setTimeout(() => this.#giveUp(), REQUEST_LIMIT_MS);
    this.#requests.push({ left: commands.length, texts: [], timer, done });
    this.#child.stdin.write(encoder.encode(`${commandLine(commands)}\n`)).catch(() => this.#end());
  }

  /** Detaches; requests under way fail, `ended` is not called. */
  async close(): Promise<void> {
    this.#letGo();
    await this.#reading;
  }

  async #read(): Promise<void> {
    const errors = this.#drainErrors();
    for await (const chunk of this.#child.stdout) {
      if (!this.#isOver) this.#parser.feed(chunk, (item) => this.#take(item));
    }
    this.#end();
    await errors;
    await this.#child.exited;
  }

  async #drainErrors(): Promise<void> {
    for await (const _chunk of this.#child.stderr);
  }

  #take(item: MirrorItem): void {
    switch (item.kind) {
      case "output":
        return this.#events.output(item.bytes);
      case "other":
        return this.#events.otherOutput(item.length);
      case "block":
        return item.asked ? this.#block(item) : undefined;
      case "notification":
        return item.line.startsWith("%exit") ? this.#end() : this.#events.notified(item.line);
    }
  }

  #block({ ok, text }: Block): void {
    const request = this.#requests[0];
    if (request === undefined) return;
    request.left -= 1;
    request.texts.push(text);
    if (ok && request.left > 0) return;
    this.#requests.shift();
    clearTimeout(request.timer);
    request.done(ok ? request.texts : new TmuxError(text));
  }

  #end(): void {
    if (this.#isOver) return;
    this.#letGo();
    this.#events.ended();
  }

  #letGo(): void {
    this.#isOver = true;
    this.#child.stdin.close();
    for (const request of this.#requests.splice(0)) {
      clearTimeout(request.timer);
      request.done(new TmuxError("the mirror's client has ended", { lost: true }));
    }
  }

  #giveUp(): void {
    this.#child.kill("SIGKILL");
    this.#end();
  }
}
