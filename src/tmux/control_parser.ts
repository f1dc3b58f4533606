/** Parses the output of a tmux control-mode client: command results, notifications, and one pane's output byte for byte. */
import { concatBytes, encodeUtf8 } from "../async/encodings.ts";

/** The output of one command. */
export interface Block {
  kind: "block";
  ok: boolean;
  text: string;
  /** False for blocks this client did not request: its own attach, and the user's tmux hooks. */
  asked: boolean;
}

/** A line outside blocks, for example `%exit`. */
export interface Notification {
  kind: "notification";
  line: string;
}

/** Output of the pane that the parser follows. The receiver owns the bytes. */
export interface PaneOutput {
  kind: "output";
  bytes: Uint8Array;
}

/** Another pane of the session produced this many bytes of output. */
export interface OtherOutput {
  kind: "other";
  length: number;
}

export type ControlItem = Block | Notification | PaneOutput | OtherOutput;

const LINE_FEED = 0x0a;
const BACKSLASH = 0x5c;
const OUTPUT = encodeUtf8("%output ");

/**
 * Works on bytes, because a line of pane output may end inside a character that the next line continues. tmux writes
 * control characters and `\` in output as a backslash and three octal digits.
 */
export class ControlParser {
  readonly #followed: Uint8Array | undefined;
  // A byte order mark is content, not an encoding hint: each line is decoded by itself.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest: Uint8Array[] = [];
  /** The block being read; it ends only at a guard line with its own time and number. */
  #open: { guard: string; lines: string[] } | undefined;

  /** `pane`: the pane whose output is returned. */
  constructor(pane?: string) {
    this.#followed = pane === undefined ? undefined : encodeUtf8(`%output ${pane} `);
  }

  /** Calls `take` for each complete item before parsing the next one. */
  feed(chunk: Uint8Array, take: (item: ControlItem) => void): void {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      const item = this.#line(this.#complete(chunk.subarray(from, end)));
      from = end + 1;
      if (item !== undefined) take(item);
    }
    if (from < chunk.length) this.#rest.push(chunk.slice(from));
  }

  #complete(tail: Uint8Array): Uint8Array {
    if (this.#rest.length === 0) return tail;
    const line = concatBytes([...this.#rest, tail]);
    this.#rest = [];
    return line;
  }

  #line(line: Uint8Array): ControlItem | undefined {
    if (this.#open !== undefined) return this.#blockLine(this.#open, this.#decoder.decode(line));
    if (startsWith(line, OUTPUT)) return this.#output(line);
    const text = this.#decoder.decode(line);
    if (!text.startsWith("%begin ")) return { kind: "notification", line: text };
    this.#open = { guard: text.slice("%begin ".length), lines: [] };
    return undefined;
  }

  #blockLine({ guard, lines }: { guard: string; lines: string[] }, line: string): Block | undefined {
    const ok = line === `%end ${guard}`;
    if (!ok && line !== `%error ${guard}`) {
      lines.push(line);
      return undefined;
    }
    this.#open = undefined;
    return { kind: "block", ok, text: lines.join("\n"), asked: guard.endsWith(" 1") };
  }

  #output(line: Uint8Array): PaneOutput | OtherOutput {
    return this.#followed !== undefined && startsWith(line, this.#followed)
      ? { kind: "output", bytes: unescapeOctal(line.subarray(this.#followed.length)) }
      : { kind: "other", length: line.length };
  }
}

export function unescapeOctal(escaped: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(escaped.length);
  let length = 0;
  for (let at = 0; at < escaped.length; at++) {
    const byte = escaped[at] ?? 0;
    bytes[length++] = byte === BACKSLASH ? octalAt(escaped, at) : byte;
    if (byte === BACKSLASH) at += 3;
  }
  return bytes.subarray(0, length);
}

function octalAt(escaped: Uint8Array, backslash: number): number {
  const digit = (offset: number): number => (escaped[backslash + offset] ?? 0) & 7;
  return (digit(1) << 6 | digit(2) << 3 | digit(3)) & 0xff;
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && prefix.every((byte, at) => bytes[at] === byte);
}
