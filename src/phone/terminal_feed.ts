/** Feeds a terminal with what a mirror sends, in order, and tells how much of it was shown. */
import type { MirrorMessage, MirrorStatus } from "../protocol/pane_frame.ts";

/** As much of a terminal as a mirror needs. Writes are parsed in order, and `done` is called before the next one is. */
export interface FedTerminal {
  write(data: string | Uint8Array, done?: () => void): void;
  resize(cols: number, rows: number): void;
  /** Told that its person types, a terminal parses the next write at once. */
  input(data: string): void;
}

export interface FeedOptions {
  terminal: FedTerminal;
  /** So many bytes were taken in: the mirror may send as many again. */
  shown(bytes: number): void;
  status(status: MirrorStatus): void;
  /** A screen, or a change of it, is there to be looked at. */
  drawn(): void;
}

const RESET = "\u001bc";

export class TerminalFeed {
  readonly #options: FeedOptions;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  take(message: MirrorMessage, length: number): void {
    const { terminal, shown, status, drawn } = this.#options;
    const done = (): void => {
      shown(length);
      drawn();
    };
    switch (message.tag) {
      case "S":
        terminal.write(RESET);
        return terminal.write(message.bytes, done);
      case "O":
        return terminal.write(message.bytes, done);
      case "R":
        return this.resize(message, () => shown(length));
      case "T":
        shown(length);
        return status(message.status);
    }
  }

  /** The person types: what comes next is shown without a turn of the clock. */
  expectEcho(): void {
    this.#options.terminal.input("");
  }

  /** Once everything before it is parsed: a resize takes effect at once. */
  resize({ cols, rows }: { cols: number; rows: number }, done: () => void = () => {}): void {
    const { terminal } = this.#options;
    terminal.write("", () => {
      terminal.resize(cols, rows);
      done();
    });
  }
}
