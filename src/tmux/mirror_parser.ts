/** Parses the stream of a control-mode client that gets output: one pane's bytes exactly, all else as blocks and notifications. */
import { type Block, ControlLines, type Notification } from "./control_parser.ts";

/** What the pane's program wrote; the bytes are the receiver's own. */
export interface PaneOutput {
  kind: "output";
  bytes: Uint8Array;
}

/** Another pane of the session wrote so many bytes, which are of no use here. */
export interface OtherOutput {
  kind: "other";
  length: number;
}

export type MirrorItem = Block | Notification | PaneOutput | OtherOutput;

const LINE_FEED = 0x0a;
const BACKSLASH = 0x5c;
const OUTPUT = new TextEncoder().encode("%output ");

/**
 * Works on bytes: a line of output may end inside a character, which tmux sends on in the next one. Control characters
 * and `\` come as a backslash and three octal digits.
 */
export class MirrorParser {
  readonly #prefix: Uint8Array;
  readonly #lines = new ControlLines();
  readonly #decoder = new TextDecoder();
  #rest: Uint8Array[] = [];

  constructor(pane: string) {
    this.#prefix = new TextEncoder().encode(`%output ${pane} `);
  }

  /** Calls `take` for each item as it is complete, before the next one is looked at. */
  feed(chunk: Uint8Array, take: (item: MirrorItem) => void): void {
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

  #line(line: Uint8Array): MirrorItem | undefined {
    if (this.#lines.inBlock || !startsWith(line, OUTPUT)) {
      return this.#lines.take(this.#decoder.decode(line));
    }
    return startsWith(line, this.#prefix)
      ? { kind: "output", bytes: unescapeOctal(line.subarray(this.#prefix.length)) }
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

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && prefix.every((byte, at) => bytes[at] === byte);
}
