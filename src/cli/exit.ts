/** Errors that end a command with an exit code. */

export const EXIT_FAILED = 1;
/** The command was used wrongly. */
export const EXIT_USAGE = 2;

/** The command has printed what it had to say. Caught by `main`. */
export class CommandExit extends Error {
  override name = "CommandExit";
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** Wrong usage: `message` says what would be accepted. Caught by `main`, which exits with 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
