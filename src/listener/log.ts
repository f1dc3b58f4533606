/** listener.log: one line per event, in the forms that are fixed (docs/specification.md, Logs and audit). */
import { RotatingFile } from "../home/rotating_file.ts";
import type { Files } from "../runtime/types.ts";

export const LOG_MAX_BYTES = 10_000_000;
export const LOG_KEPT = 3;

export interface ListenerLog {
  /** Queues the line; never throws. */
  line(text: string): void;
  /** Writes what is queued and closes the file. */
  close(): Promise<void>;
}

export interface LogOptions {
  path: string;
  /** Epoch milliseconds. */
  now: () => number;
  /** Prints each line in the foreground. */
  echo?: ((line: string) => void) | undefined;
}

export function openLog(files: Files, { path, now, echo }: LogOptions): ListenerLog {
  const file = new RotatingFile(files, { path, maxBytes: LOG_MAX_BYTES, kept: LOG_KEPT });
  return {
    line(text) {
      const stamped = stampLine(text, now());
      file.append(stamped);
      echo?.(stamped);
    },
    close: () => file.close(),
  };
}

/** `[<time>] <text>`, except the failure line, `! …`, which has no time. Control characters are replaced, so that a relay's text can neither forge a line nor control a terminal. */
export function stampLine(text: string, now: number): string {
  const line = text.replace(/[\r\n]+/g, " ").replace(/[\x00-\x1f\x7f-\x9f]/g, "\ufffd");
  return line.startsWith("! ") ? line : `[${new Date(now).toISOString()}] ${line}`;
}

/** The first line of a run (docs/specification.md, Logs and audit): the reliable indicator of the running build. */
export function startLine(version: string, wsUrl: string): string {
  return `svc listener starting — v${version} — ${wsUrl}`;
}
