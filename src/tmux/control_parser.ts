/** Parses what a control-mode client prints: blocks of command output, and notifications between them. */

/** The output of one command. */
export interface Block {
  kind: "block";
  ok: boolean;
  text: string;
  /** False for what this client did not ask for: its own attaching, and the user's tmux hooks. */
  asked: boolean;
}

/** A line outside blocks, for example `%exit`. */
export interface Notification {
  kind: "notification";
  line: string;
}

/** Takes whole lines, returns what each completes. A block ends only at the guard with its own time and number. */
export class ControlLines {
  #open: { guard: string; lines: string[] } | undefined;

  get inBlock(): boolean {
    return this.#open !== undefined;
  }

  take(line: string): Block | Notification | undefined {
    if (this.#open === undefined) {
      if (!line.startsWith("%begin ")) return { kind: "notification", line };
      this.#open = { guard: line.slice("%begin ".length), lines: [] };
      return undefined;
    }
    const { guard, lines } = this.#open;
    const ok = line === `%end ${guard}`;
    if (!ok && line !== `%error ${guard}`) {
      lines.push(line);
      return undefined;
    }
    this.#open = undefined;
    return { kind: "block", ok, text: lines.join("\n"), asked: guard.endsWith(" 1") };
  }
}

/** Fed with chunks of stdout, returns what they complete. */
export class ControlParser {
  #decoder = new TextDecoder();
  #rest = "";
  #lines = new ControlLines();

  feed(chunk: Uint8Array): (Block | Notification)[] {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#lines.take(line) ?? []);
  }
}
