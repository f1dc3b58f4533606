/** Answers a client's message that is too long to be read, so that its call fails instead of waiting. */
import type { CutLine } from "../runtime/input.ts";

const ID = String.raw`"id"\s*:\s*(-?\d+|"[^"\\]*")`;
/** An id before the parameters: only members with short, plain values come before it. */
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*${ID}\s*,`);
/** An id after the parameters. What it closes is the message, because nothing follows. */
const ID_LAST = new RegExp(String.raw`[,{]\s*${ID}\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$`);

/** JSON-RPC's code for a request that cannot be processed as it is. */
const INVALID_REQUEST = -32_600;

/** The line that refuses the request; undefined if it has no id that can be found: a notification gets no answer. */
export function refuseLongLine({ head, tail }: CutLine, maxBytes: number): string | undefined {
  const id = (ID_FIRST.exec(head) ?? ID_LAST.exec(tail))?.[1];
  if (id === undefined) return undefined;
  const message = `Cannot read this request: a message may have at most ${maxBytes} bytes`;
  return `${
    JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(id), error: { code: INVALID_REQUEST, message } })
  }\n`;
}
