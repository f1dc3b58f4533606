/** Input functions shared by both runtimes: splitting bytes into lines, and raw mode while keys are read. */
import { concatBytes } from "../async/encodings.ts";

/** The longest line of the control socket in bytes; a peer that sends a longer one is disconnected. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

const NEWLINE = 0x0a;

/** A line that exceeded the limit: its first and its last LINE_END_BYTES. */
export interface CutLine {
  head: string;
  tail: string;
}

/** How much of either end of a line that is too long is kept, in bytes. */
const LINE_END_BYTES = 1_024;

/** Reads a stream to its end, so that its writer never waits. */
export async function drain(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}

/**
 * Yields each complete line without its line end. Ends early when a line exceeds the limit, or with `onTooLong` passes
 * that line's ends to it and goes on with the next line.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number = MAX_LINE_BYTES,
  { onTooLong }: { onTooLong?: (line: CutLine) => void } = {},
): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let parts: Uint8Array[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const isTooLong = held + end - start > maxBytes;
      if (isTooLong && onTooLong === undefined) return;
      const line = concatBytes([...parts, chunk.subarray(start, end)]);
      if (!isTooLong) yield decoder.decode(line);
      else {
        const [head, tail] = endsOf(line);
        onTooLong?.({ head: decoder.decode(head), tail: decoder.decode(tail) });
      }
      [parts, held, start] = [[], 0, end + 1];
    }
    held += chunk.length - start;
    if (held > maxBytes && onTooLong === undefined) return;
    if (start < chunk.length) parts.push(chunk.slice(start));
    if (held > maxBytes) parts = endsOf(concatBytes(parts));
  }
}

/** The first and the last bytes of a line. Of a line that is already cut they are the same. */
function endsOf(line: Uint8Array): [head: Uint8Array, tail: Uint8Array] {
  const tailStart = Math.max(LINE_END_BYTES, line.length - LINE_END_BYTES);
  return [line.slice(0, LINE_END_BYTES), line.slice(tailStart)];
}

/** A runtime's keyboard input. */
export interface KeySource {
  setRaw(on: boolean): void;
  /** The next bytes, or undefined at the end of input. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends a pending read and frees the input. */
  stop(): Promise<void> | void;
}

/** Iterates over the input in raw mode. Calls `open` when a loop starts; leaving the loop cancels its pending read. */
export function rawInput(open: () => KeySource): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => iterate(open()) };
}

/** Iterates over the input as its terminal passes it on. `open` is called when a loop starts. */
export function plainInput(open: () => KeySource): AsyncIterable<Uint8Array> {
  return rawInput(() => ({ ...open(), setRaw: () => undefined }));
}

function iterate(source: KeySource): AsyncIterator<Uint8Array> {
  let isOver = false;
  const end = (): IteratorReturnResult<undefined> => {
    isOver = true;
    source.setRaw(false);
    return { done: true, value: undefined };
  };
  return {
    async next() {
      if (isOver) return end();
      source.setRaw(true);
      const value = await source.read();
      return value === undefined ? end() : { done: false, value };
    },
    async return() {
      end();
      await source.stop();
      return { done: true, value: undefined };
    },
  };
}

/** The size assumed for an output that is not a terminal. */
export const DEFAULT_SIZE: Readonly<{ columns: number; rows: number }> = { columns: 80, rows: 24 };
