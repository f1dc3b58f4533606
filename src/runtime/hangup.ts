/** Lets a program outlive its terminal where whoever started it wanted that, as `nohup` does. */
import { readFileSync } from "node:fs";
import type { Runtime } from "./types.ts";

type OnSignal = Runtime["onSignal"];

/**
 * The same, but a SIGHUP that this process was started to ignore still does nothing. To be called before any signal is
 * handled. Deno takes SIGHUP with every other signal, so that it is not enough not to ask for it; Node takes all defaults
 * back at its start, so that none is ignored there.
 */
export function keepingHangup(onSignal: OnSignal, status: string = ownStatus()): OnSignal {
  if (!isHangupIgnored(status)) return onSignal;
  return (signal, handler) => onSignal(signal, signal === "SIGHUP" ? () => {} : handler);
}

function isHangupIgnored(status: string): boolean {
  const [, mask] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return mask !== undefined && (BigInt(`0x${mask}`) & 1n) === 1n;
}

/** Only Linux has it as a file. */
function ownStatus(): string {
  try {
    return readFileSync("/proc/self/status", "utf8");
  } catch {
    return "";
  }
}
