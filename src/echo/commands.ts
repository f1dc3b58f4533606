/** The words that the echo agent takes as commands; everything else is a prompt. */

export type Command = { name: "work"; seconds: number } | { name: "permit" | "help" | "exit" };

export const WORK_DEFAULT_SECONDS = 5;
export const WORK_MAX_SECONDS = 3_600;

/** Undefined for a prompt: also for a command with words that it does not know. */
export function parseCommand(text: string): Command | undefined {
  const work = /^\/work(?: +(\d+(?:\.\d+)?))? *$/.exec(text);
  if (work) {
    return { name: "work", seconds: Math.min(Number(work[1] ?? WORK_DEFAULT_SECONDS), WORK_MAX_SECONDS) };
  }
  const name = /^\/(permit|help|exit) *$/.exec(text)?.[1];
  return name === undefined ? undefined : { name: name as "permit" | "help" | "exit" };
}
