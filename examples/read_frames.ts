/**
 * Checks frames of the wire protocol, one JSON text per line on standard input, as relay and listener do.
 *
 * echo '{"event":"ping"}' | deno run -A examples/read_frames.ts
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { encodeFrame, parseFrame } from "../mod.ts";

for await (const line of createInterface({ input: process.stdin })) {
  const frame = parseFrame(line);
  if ("fault" in frame) process.stdout.write(`refused: ${frame.detail}\n`);
  else process.stdout.write(`${encodeFrame(frame.event, frame.data)}\n`);
}
