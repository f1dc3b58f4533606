/** Lets a program that was started with `nohup` or the like outlive its terminal. */
import { readFileSync } from "node:fs";
import type { Runtime } from "./types.ts";

type OnSignal = Runtime["onSignal"];

/**
 * Returns `onSignal`, except that SIGHUP stays ignored if this process was started with it ignored. Call it before any
 * signal is handled. Deno handles SIGHUP along with every other signal, so not subscribing to it is not enough; Node
 * restores all defaults at its start, so none is ignored there.
 */
export function keepingHangup(onSignal: OnSignal, status: string = ownStatus()): OnSignal {
  if (!isHangupIgnored(status)) return onSignal;
  return (signal, handler) => onSignal(signal, signal === "SIGHUP" ? () => {} : handler);
}

function isHangupIgnored(status: string): boolean {
  const [, mask] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return mask !== undefined && (BigInt(`0x${mask}`) & 1n) === 1n;
}

/** This process's status file, which only Linux has. */
function ownStatus(): string {
  try {
    return readFileSync("/proc/self/status", "utf8");
  } catch {
    return "";
  }
}
