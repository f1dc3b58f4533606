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

/** Read by hand: a stream and a Response around it would cost a hook more than everything else in it. */
async function readAll(): Promise<string> {
  const buffer = new Uint8Array(64 * 1024);
  const decoder = new TextDecoder();
  let text = "";
  for (let size = await Deno.stdin.read(buffer); size !== null; size = await Deno.stdin.read(buffer)) {
    text += decoder.decode(buffer.subarray(0, size), { stream: true });
  }
  return text + decoder.decode();
}

export const terminal: Terminal = {
  isInputTerminal: () => Deno.stdin.isTerminal(),
  isOutputTerminal: () => Deno.stdout.isTerminal(),
  size,
  write: (text) => writeFully((bytes) => Deno.stdout.writeSync(bytes), utf8.encode(text)),
  writeError: (text) => writeFully((bytes) => Deno.stderr.writeSync(bytes), utf8.encode(text)),
  readAll,
  rawInput: () => rawInput(openKeys),
};
