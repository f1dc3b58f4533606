/** Finds the place at which a text stops being JSON: V8's message names it only for some faults. */
import { errorText } from "../async/error_text.ts";

/** Both count from 1. */
export interface JsonFault {
  line: number;
  column: number;
}

/** Undefined when the text is JSON. */
export function jsonFault(text: string): JsonFault | undefined {
  const message = parseMessage(text);
  if (message === undefined) return undefined;
  const before = text.slice(0, faultOffset(text, message)).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

function parseMessage(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

function faultOffset(text: string, message: string): number {
  const named = /at position (\d+)/.exec(message)?.[1];
  if (named !== undefined) return Number(named);
  return isBadToken(message) ? firstBadToken(text) : text.length;
}

function isBadToken(message: string): boolean {
  return message.startsWith("Unexpected token");
}

/** A prefix that ends before the bad token is merely unfinished, so the shortest one with the fault ends in it. */
function firstBadToken(text: string): number {
  let [good, bad] = [0, text.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isBadToken(parseMessage(text.slice(0, middle)) ?? "")) bad = middle;
    else good = middle;
  }
  return good;
}
