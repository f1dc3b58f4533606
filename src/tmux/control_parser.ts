/** Parses what a control-mode client prints: blocks of command output, and notifications between them. */

/** The output of one command. */
export interface Block {
  kind: "block";
  ok: boolean;
  text: string;
}

/** A line outside blocks, for example `%exit`. */
export interface Notification {
  kind: "notification";
  line: string;
}

/** Fed with chunks of stdout, returns what they complete. A block ends only at the guard with its own time and number. */
export class ControlParser {
  #decoder = new TextDecoder();
  #rest = "";
  #open: { guard: string; lines: string[] } | undefined;

  feed(chunk: Uint8Array): (Block | Notification)[] {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): Block | Notification | undefined {
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
    return { kind: "block", ok, text: lines.join("\n") };
  }
}
