/** The terminal on Node. */

import { writeSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";
import { type KeySource, rawInput } from "./raw_input.ts";
import { DEFAULT_SIZE } from "./terminal_size.ts";
import type { Terminal } from "./types.ts";
import { writeFully } from "./write_fully.ts";

const utf8 = new TextEncoder();
const input = 0;
const output = 1;
const errors = 2;

let isRaw = false;

function setRaw(on: boolean): void {
  if (on === isRaw || !isatty(input)) return;
  process.stdin.setRawMode(on);
  isRaw = on;
}

/** Gives the terminal back as it was, for a program that ends while it reads keys. */
export function restoreTerminal(): void {
  setRaw(false);
}

function size(): { columns: number; rows: number } {
  if (!isatty(output)) return DEFAULT_SIZE;
  const { columns, rows } = process.stdout;
  return columns > 0 && rows > 0 ? { columns, rows } : DEFAULT_SIZE;
}

function openKeys(): KeySource {
  const chunks: AsyncIterator<Uint8Array> = process.stdin[Symbol.asyncIterator]();
  return {
    setRaw,
    async read() {
      const { value, done } = await chunks.next();
      return done ? undefined : new Uint8Array(value);
    },
    stop: () => void process.stdin.destroy(),
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
  rawInput: () => rawInput(openKeys),
};
