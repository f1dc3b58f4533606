/** How a command ends before its end: by an exit code, its words already said. */

export const EXIT_FAILED = 1;
/** The command was used wrongly. */
export const EXIT_USAGE = 2;

/** Caught by `main`. */
export class CommandExit extends Error {
  override name = "CommandExit";
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** Used wrongly: `message` says what would be accepted. Caught by `main`, which exits 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
