/** The terminal on Deno. */

import type { Terminal } from "./types.ts";
import { writeFully } from "./write_fully.ts";
import { defaultSize } from "./terminal_size.ts";

const utf8 = new TextEncoder();
let isRaw = false;

function setRaw(on: boolean): void {
  if (on === isRaw || !Deno.stdin.isTerminal()) return;
  Deno.stdin.setRaw(on);
  isRaw = on;
}

/** Gives the terminal back as it was, for a program that ends while it reads keys. */
export function restoreTerminal(): void {
  setRaw(false);
}

function size(): { columns: number; rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    return columns > 0 && rows > 0 ? { columns, rows } : defaultSize;
  } catch {
    return defaultSize;
  }
}

/** The pending read is cancelled by `return`, so a loop over keys can be left while no key comes. */
function rawInput(): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const reader = Deno.stdin.readable.getReader();
      const end = (): IteratorReturnResult<undefined> => {
        setRaw(false);
        return { done: true, value: undefined };
      };
      return {
        async next() {
          setRaw(true);
          const chunk = await reader.read();
          return chunk.done ? end() : { done: false, value: chunk.value };
        },
        async return() {
          await reader.cancel();
          return end();
        },
      };
    },
  };
}

export const terminal: Terminal = {
  isInputTerminal: () => Deno.stdin.isTerminal(),
  isOutputTerminal: () => Deno.stdout.isTerminal(),
  size,
  write: (text) => writeFully((bytes) => Deno.stdout.writeSync(bytes), utf8.encode(text)),
  writeError: (text) => writeFully((bytes) => Deno.stderr.writeSync(bytes), utf8.encode(text)),
  readAll: () => new Response(Deno.stdin.readable).text(),
  rawInput,
};
