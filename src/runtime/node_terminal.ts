/** The terminal on Node. */

import { writeSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";
import { defaultSize } from "./terminal_size.ts";
import type { Terminal } from "./types.ts";
import { writeFully } from "./write_fully.ts";

const utf8 = new TextEncoder();
const input = 0;
const output = 1;
const errors = 2;

function setRaw(on: boolean): void {
  if (isatty(input) && process.stdin.isRaw !== on) process.stdin.setRawMode(on);
}

/** Gives the terminal back as it was, for a program that ends while it reads keys. */
export function restoreTerminal(): void {
  if (isReading) setRaw(false);
}

let isReading = false;

function size(): { columns: number; rows: number } {
  if (!isatty(output)) return defaultSize;
  const { columns, rows } = process.stdout;
  return columns > 0 && rows > 0 ? { columns, rows } : defaultSize;
}

/** Nothing holds the program open once the loop over keys is left. */
function rawInput(): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = process.stdin[Symbol.asyncIterator]();
      const end = (): IteratorReturnResult<undefined> => {
        setRaw(false);
        isReading = false;
        return { done: true, value: undefined };
      };
      return {
        async next() {
          isReading = true;
          setRaw(true);
          const chunk = await chunks.next();
          return chunk.done ? end() : { done: false, value: new Uint8Array(chunk.value) };
        },
        return() {
          process.stdin.destroy();
          return Promise.resolve(end());
        },
      };
    },
  };
}

async function readAll(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return new TextDecoder().decode(Buffer.concat(chunks));
}

export const terminal: Terminal = {
  isInputTerminal: () => isatty(input),
  isOutputTerminal: () => isatty(output),
  size,
  write: (text) => writeFully((bytes) => writeSync(output, bytes), utf8.encode(text)),
  writeError: (text) => writeFully((bytes) => writeSync(errors, bytes), utf8.encode(text)),
  readAll,
  rawInput,
};
