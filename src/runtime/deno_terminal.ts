/** The terminal on Deno. */

import type { Terminal } from "./types.ts";
import { type KeySource, rawInput } from "./raw_input.ts";
import { writeFully } from "./write_fully.ts";
import { DEFAULT_SIZE } from "./terminal_size.ts";

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
    return columns > 0 && rows > 0 ? { columns, rows } : DEFAULT_SIZE;
  } catch {
    return DEFAULT_SIZE;
  }
}

function openKeys(): KeySource {
  const reader = Deno.stdin.readable.getReader();
  return {
    setRaw,
    read: async () => (await reader.read()).value,
    stop: () => reader.cancel(),
  };
}

export const terminal: Terminal = {
  isInputTerminal: () => Deno.stdin.isTerminal(),
  isOutputTerminal: () => Deno.stdout.isTerminal(),
  size,
  write: (text) => writeFully((bytes) => Deno.stdout.writeSync(bytes), utf8.encode(text)),
  writeError: (text) => writeFully((bytes) => Deno.stderr.writeSync(bytes), utf8.encode(text)),
  readAll: () => new Response(Deno.stdin.readable).text(),
  rawInput: () => rawInput(openKeys),
};
