/** The exit codes a shell would give, for children that never ran or were killed. */

import { errorText } from "../async/error_text.ts";
import { codeOf } from "./failure.ts";
import type { RunResult } from "./types.ts";

const NOT_FOUND_CODE = 127;
const NOT_EXECUTABLE_CODE = 126;
const SIGNAL_BASE = 128;

/** What a child killed with SIGKILL leaves. */
export const KILLED_CODE = SIGNAL_BASE + 9;

/** @param signal the signal's number, when one ended the child */
export function exitCode(code: number | null, signal: number | undefined): number {
  return code ?? SIGNAL_BASE + (signal ?? 0);
}

/** The result for a program that could not be started; throws what is neither missing nor forbidden. */
export function failedStart(argv: readonly string[], error: unknown): RunResult {
  const code = codeOf(error);
  const reason = errorText(error);
  const result = { stdout: new Uint8Array(), stderr: `cannot run ${JSON.stringify(argv[0])}: ${reason}` };
  if (code === "ENOENT" || code === "ENOTDIR") return { code: NOT_FOUND_CODE, ...result };
  if (code === "EACCES" || code === "EPERM") return { code: NOT_EXECUTABLE_CODE, ...result };
  throw error;
}
